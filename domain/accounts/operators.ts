import { addAudit } from '../audit'
import type { SystemContext } from '../context'
import { requireAccountOfId } from '../lock-account'
import { sql, statement, text } from '../sql'

type Role = 'operator' | null

const updateRole = statement(
  'set-role',
  { userId: text, role: text.of<NonNullable<Role>>().orNull },
  {},
  // A page token names the version, so that no one of before the role works again after it.
  (v) => sql`UPDATE users SET role = ${v.role},
     credential_version = credential_version + (${v.role}::text IS NOT NULL)::int
   WHERE id = ${v.userId}`,
)

/**
 * Null takes the role away, from open sessions too. A role that is given ends the page tokens and mailed links of the account, because
 * the operator command alone changes it from then on. False where the account has it already, which changes nothing.
 */
export const setRole = (ctx: SystemContext, { userId, role }: { userId: string; role: Role }): Promise<boolean> =>
  ctx.transaction(async (tx) => {
    const account = await requireAccountOfId(tx, userId)
    if (account.role === role) return false
    await tx.sql(updateRole, { userId, role })
    await addAudit(tx, 'role.changed', {
      userId,
      actor: 'operator',
      subject: role ?? 'none',
      ip: null,
      at: tx.clock.now(),
    })
    return true
  })

const findOperator = statement(
  'find-operator',
  { userId: text },
  { id: text },
  (v) => sql`SELECT id FROM users WHERE id = ${v.userId} AND role = 'operator' AND withdrawn_at IS NULL`,
)

export async function isOperator(ctx: SystemContext, userId: string): Promise<boolean> {
  return (await ctx.sql(findOperator, { userId })).length > 0
}
