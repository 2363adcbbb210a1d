import type { SystemContext } from '@/domain/context'
import { processState, type ServiceContext } from '@/server/process-state'

/** Makes `ctx` the context of this process, as the server entry does with its own. */
export function installContext(ctx: Partial<SystemContext & Pick<ServiceContext, 'ping'>>): void {
  processState.context = ctx as ServiceContext
}
