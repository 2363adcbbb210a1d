import { addAudit } from './audit'
import type { AuditAction } from './audit-actions'
import type { Actor, AnyContext, SystemContext, Transaction } from './context'

/** Of a call of the admin API, which services and the pages of operators make, or of the operator command, which has no actor. */
export type ManagerContext = SystemContext & { actor?: Actor; ip?: string }

/** Stands for the user in the audit rows of what an operator does by the command. */
const OPERATOR_COMMAND_ID = 'operator-command'

export const managerOf = ({ actor }: Pick<ManagerContext, 'actor'>) =>
  actor?.kind === 'service_token'
    ? { kind: 'service' as const, id: actor.id }
    : { kind: 'operator' as const, id: actor?.userId ?? OPERATOR_COMMAND_ID }

/** The audit row belongs to the manager, because no new row may refer to a user who is being erased. */
export function auditManager(ctx: AnyContext & { actor?: Actor }, action: AuditAction, subject: string): Promise<void> {
  const { kind, id } = managerOf(ctx)
  const actorId = ctx.actor ? id : null
  return addAudit(ctx, action, { userId: id, actor: kind, actorId, ip: null, subject, at: ctx.clock.now() })
}

/** What a manager did to an account that is open; the row belongs to the account. */
export function auditOnAccount(
  tx: Transaction<ManagerContext>,
  action: AuditAction,
  of: { userId: string; subject?: string },
): Promise<void> {
  const { kind: actor, id } = managerOf(tx)
  return addAudit(tx, action, { ...of, actor, actorId: tx.actor ? id : null, ip: tx.ip ?? null, at: tx.clock.now() })
}
