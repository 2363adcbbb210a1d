import { addAudit } from './audit'
import type { AuditAction } from './audit-actions'
import type { Actor, AnyContext, SystemContext, Transaction } from './context'

/** Of a call of the admin API, which services and the pages of operators make, or of the operator command, which has no actor. */
export type ManagerContext = SystemContext & { actor?: Actor; ip?: string }

/** Stands for the user in the audit rows of what an operator does by the command. */
const OPERATOR_COMMAND_ID = 'operator-command'

/** `id` owns the audit rows of a manager. `actorId` says in those of an account who acted; nobody knows that of the operator command. */
export function managerOf({ actor }: Pick<ManagerContext, 'actor'>) {
  if (!actor) return { kind: 'operator' as const, id: OPERATOR_COMMAND_ID, actorId: null }
  return actor.kind === 'service_token'
    ? { kind: 'service' as const, id: actor.id, actorId: actor.id }
    : { kind: 'operator' as const, id: actor.userId, actorId: actor.userId }
}

/** The audit row belongs to the manager, because no new row may refer to a user who is being erased. */
export function auditManager(ctx: AnyContext & { actor?: Actor }, action: AuditAction, subject: string): Promise<void> {
  const { kind, id, actorId } = managerOf(ctx)
  return addAudit(ctx, action, { userId: id, actor: kind, actorId, ip: null, subject, at: ctx.clock.now() })
}

/** What a manager did to an account that is open; the row belongs to the account. */
export function auditOnAccount(
  tx: Transaction<ManagerContext>,
  action: AuditAction,
  of: { userId: string; subject?: string },
): Promise<void> {
  const { kind: actor, actorId } = managerOf(tx)
  return addAudit(tx, action, { ...of, actor, actorId, ip: tx.ip ?? null, at: tx.clock.now() })
}
