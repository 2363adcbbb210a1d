import { AppError } from '@/contract/errors'
import { type SystemContext, statement } from '../context'

const updateRole = statement(
  'set-role',
  `WITH account AS (
     UPDATE users SET role = $2 WHERE id = $1 AND withdrawn_at IS NULL RETURNING id
   )
   INSERT INTO audit_events (id, user_id, action, actor, at)
   SELECT $3, id, 'role.changed', 'operator', $4 FROM account
   RETURNING id`,
)

/** Null takes the role away, from sessions that are open too. */
export async function setRole(ctx: SystemContext, input: { userId: string; role: 'operator' | null }): Promise<void> {
  const rows = await ctx.sql(updateRole, [input.userId, input.role, ctx.secrets.randomId('aud_'), ctx.clock.now()])
  if (rows.length === 0) throw new AppError('REQUEST_001', 'There is no active user with this id.')
}

const findOperator = statement(
  'find-operator',
  `SELECT id FROM users WHERE id = $1 AND role = 'operator' AND withdrawn_at IS NULL`,
)

export async function isOperator(ctx: SystemContext, userId: string): Promise<boolean> {
  return (await ctx.sql(findOperator, [userId])).length > 0
}
