import type { SystemContext } from '@/domain/context'
import type { PasswordQueue } from './adapters/passwords'

export interface ServiceContext extends SystemContext {
  passwords: PasswordQueue
  close(): Promise<void>
}

/** One for the process: Next and the server entry are two bundles of the same code, of which one opens it. */
const shared = globalThis as { __accountContext?: ServiceContext }

export const isContextOpen = (): boolean => shared.__accountContext !== undefined

/** What verbs need beside the request. */
export function systemContext(): ServiceContext {
  if (!shared.__accountContext) throw new Error('The service is not started; start it with npm start or npm run dev')
  return shared.__accountContext
}
