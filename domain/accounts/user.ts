import { parseNewAddress } from '@/contract/address'
import { AppError, parseIssueMessage } from '@/contract/errors'
import { addEvent } from '../applications/events'
import { addAudit } from '../audit'
import type { SystemContext } from '../context'
import { refuseTakenAddress } from '../email/set-address'
import { requireAccountOfId } from '../lock-account'
import { requireGoodPassword } from '../passwords/new-password'
import { replacePassword } from '../passwords/replace-password'
import { createAccount } from './create-account'
import { importedName } from './import-line'

/** In the words of the operator command. */
export const notAnAddress = () =>
  new AppError('EMAIL_001', 'The address must be one plain address, such as ada@example.com.')

/** For the operator and the demo seed, because sign-up belongs to the adopter's product. */
export async function createUser(
  ctx: SystemContext,
  input: { email: string; password: string; name: string; emailVerified: boolean },
): Promise<string> {
  const address = parseNewAddress(input.email)
  if (!address) throw notAnAddress()
  const name = checkName(input.name)
  const passwordHash = await hashGood(ctx, input.password, { name, email: input.email })
  const account = { externalId: null, name, address, isVerified: input.emailVerified, passwordHash }
  const by = { actor: 'operator', ip: null }
  return ctx
    .transaction((tx) => createAccount(tx, { ...account, locale: null, firstVersion: 0 }, by))
    .catch(refuseTakenAddress)
}

/** Ends every session, and every access token unless `keepTokens` is set; cancels the pending change. */
export async function setPassword(
  ctx: SystemContext,
  input: { userId: string; password: string; keepTokens?: boolean },
): Promise<void> {
  const { userId, keepTokens = false } = input
  const passwordHash = await hashGood(
    ctx,
    input.password,
    await ctx.transaction((tx) => requireAccountOfId(tx, userId)),
  )
  await ctx.transaction(async (tx) => {
    await requireAccountOfId(tx, userId)
    const at = tx.clock.now()
    await Promise.all([
      replacePassword(tx, { userId, passwordHash, at, keepTokens }),
      addEvent(tx, 'account.password_changed', { userId, at }),
      addAudit(tx, 'password.changed', { userId, actor: 'operator', ip: null, at }),
    ])
  })
}

async function hashGood(
  ctx: SystemContext,
  password: string,
  person: { name: string; email: string },
): Promise<string> {
  await requireGoodPassword(ctx, password, person).catch((error) => {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.code, error.details.replace('new_password', 'The password'))
  })
  return ctx.passwords.hash(password)
}

function checkName(name: string): string {
  const parsed = importedName.safeParse(name)
  if (parsed.success) return parsed.data
  const { code, details } = parseIssueMessage(parsed.error.issues[0]?.message ?? '')
  throw new AppError(code, details.replace('name', 'The name'))
}
