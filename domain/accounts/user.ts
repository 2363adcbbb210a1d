import { parseAddress } from '@/contract/address'
import { AppError, PASSWORD_LENGTH, parseIssueMessage } from '@/contract/errors'
import { newPassword } from '@/contract/fields'
import { addEvent } from '../applications/events'
import { addAudit } from '../audit'
import type { SystemContext } from '../context'
import { refuseTakenAddress } from '../email/set-address'
import { heldSince } from '../limits/held-addresses'
import { requireAccountOfId } from '../lock-account'
import { replacePassword } from '../passwords/replace-password'
import { sql, statement, text, time } from '../sql'
import { importedName } from './import-line'

const insertUser = statement(
  'create-user',
  {
    id: text,
    name: text,
    email: text,
    emailKey: text,
    emailVerifiedAt: time.orNull,
    passwordHash: text,
    heldSince: time,
    now: time,
  },
  { id: text },
  (v) => sql`INSERT INTO users (id, name, email, email_key, email_verified_at, password_hash, created_at)
   SELECT ${v.id}, ${v.name}, ${v.email}, ${v.emailKey}, ${v.emailVerifiedAt}, ${v.passwordHash}, ${v.now}
   WHERE address_is_free(${v.emailKey}, ${v.id}, ${v.heldSince})
   RETURNING id`,
)

/** For the operator and the demo seed, because sign-up belongs to the adopter's product. */
export async function createUser(
  ctx: SystemContext,
  input: { email: string; password: string; name: string; emailVerified: boolean },
): Promise<string> {
  const address = parseAddress(input.email)
  if (!address) throw new AppError('EMAIL_001', 'The address must be one plain address, such as ada@example.com.')
  const name = checkName(input.name)
  const passwordHash = await ctx.passwords.hash(checkPassword(input.password))
  const now = ctx.clock.now()
  const id = ctx.secrets.randomId('usr_')
  const values = {
    id,
    name,
    email: address.typed,
    emailKey: address.key,
    emailVerifiedAt: input.emailVerified ? now : null,
    passwordHash,
    heldSince: heldSince(ctx, now),
    now,
  }
  const insert = ctx.transaction(async (tx) => {
    const [user] = await tx(insertUser, values)
    if (!user) throw new AppError('EMAIL_002')
    await addAudit(ctx, tx, 'user.created', { userId: id, actor: 'operator', ip: null, at: now })
    return id
  })
  return insert.catch(refuseTakenAddress)
}

/** Ends every session, and every access token unless `keepTokens` is set; cancels the pending change. */
export async function setPassword(
  ctx: SystemContext,
  input: { userId: string; password: string; keepTokens?: boolean },
): Promise<void> {
  const { userId, keepTokens = false } = input
  const passwordHash = await ctx.passwords.hash(checkPassword(input.password))
  await ctx.transaction(async (tx) => {
    await requireAccountOfId(tx, userId)
    const at = ctx.clock.now()
    await Promise.all([
      replacePassword(tx, { userId, passwordHash, at, keepTokens }),
      addEvent(ctx, tx, 'account.password_changed', { userId, at }),
      addAudit(ctx, tx, 'password.changed', { userId, actor: 'operator', ip: null, at }),
    ])
  })
}

function checkPassword(password: string): string {
  const parsed = newPassword.safeParse(password)
  if (parsed.success) return parsed.data
  // Nothing but the length has no sentence of its own, and that of the code speaks of a current password.
  const message = parsed.error.issues[0]?.message ?? ''
  const sentence = message === 'PASSWORD_001' ? `The password ${PASSWORD_LENGTH}.` : parseIssueMessage(message).details
  throw new AppError('REQUEST_001', sentence.replace('new_password', 'The password'))
}

function checkName(name: string): string {
  const parsed = importedName.safeParse(name)
  if (parsed.success) return parsed.data
  const { code, details } = parseIssueMessage(parsed.error.issues[0]?.message ?? '')
  throw new AppError(code, details.replace('name', 'The name'))
}
