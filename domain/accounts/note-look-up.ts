import { type AuditActor, addAudit } from '../audit'
import type { SystemContext } from '../context'

/**
 * Runs before the answer, so that nobody is looked up in secret. What was asked for may be an address and is not kept. `actorId` is
 * the operator's own account; null for the operator command.
 */
export const noteLookUp = (ctx: SystemContext, of: AuditActor & { userId: string }): Promise<void> =>
  addAudit(ctx, 'account.looked_up', { ...of, at: ctx.clock.now() })
