import { AppError } from '@/contract/errors'
import type { SystemContext } from '../context'
import { audit, sql, statement, text, time } from '../sql'

type Role = 'operator' | null

const updateRole = statement(
  'set-role',
  { userId: text, role: text.of<NonNullable<Role>>().orNull, now: time, auditId: text },
  { id: text },
  (v) => sql`WITH account AS (
     UPDATE users SET role = ${v.role} WHERE id = ${v.userId} AND withdrawn_at IS NULL RETURNING id
   )
   ${audit('role.changed', { from: sql`account`, id: v.auditId, user: sql`id`, actor: sql`'operator'`, at: v.now })}
   RETURNING id`,
)

/** Null takes the role away, from open sessions too. */
export async function setRole(ctx: SystemContext, input: { userId: string; role: Role }): Promise<void> {
  const rows = await ctx.sql(updateRole, { ...input, now: ctx.clock.now(), auditId: ctx.secrets.randomId('aud_') })
  if (rows.length === 0) throw new AppError('REQUEST_001', 'There is no active user with this id.')
}

const findOperator = statement(
  'find-operator',
  { userId: text },
  { id: text },
  (v) => sql`SELECT id FROM users WHERE id = ${v.userId} AND role = 'operator' AND withdrawn_at IS NULL`,
)

export async function isOperator(ctx: SystemContext, userId: string): Promise<boolean> {
  return (await ctx.sql(findOperator, { userId })).length > 0
}
