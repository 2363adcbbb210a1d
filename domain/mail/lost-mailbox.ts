import type { AnyContext } from '../context'
import { boolean, equalsAsText, literal, sql, statement, text } from '../sql'
import { keyOfAddress } from './mail-deliveries'

const replacementsOf = statement(
  'replacements-of-account',
  { userId: text, presentIsNot: text },
  { old_email: text, is_lost: boolean },
  (v) => sql`SELECT r.old_email, r.old_email_key IS NULL AS is_lost
   FROM email_change_requests r JOIN users u ON u.id = r.user_id AND u.email_key <> ${v.presentIsNot}
   WHERE r.user_id = ${v.userId} AND ${equalsAsText(sql`r.status`, literal('verified'))} AND lower(r.old_email) <> lower(r.new_email)`,
)

/** Whether support has said that the mailbox of this address is lost. It is not if the account has, or had, the address again since. */
export async function isLostMailbox(
  ctx: AnyContext,
  { userId, address }: { userId: string; address: string },
): Promise<boolean> {
  const key = keyOfAddress(address)
  const replacements = await ctx.sql(replacementsOf, { userId, presentIsNot: key })
  const ofAddress = replacements.filter(({ old_email: oldEmail }) => keyOfAddress(oldEmail) === key)
  return ofAddress.length > 0 && ofAddress.every(({ is_lost: isLost }) => isLost)
}
