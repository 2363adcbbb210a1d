import type { Data, GrantableScope } from '@/contract/define'
import type { changeEmail as changeContract } from '@/contract/email'
import { DEFAULT_VERIFICATION_METHOD } from '@/contract/vocabulary'
import type { Actor, Context, Credential, SystemContext } from '@/domain/context'
import { changeEmail } from '@/domain/email/change-email'
import { verifyEmail } from '@/domain/email/verify-email'
import { confirmPasswordReset } from '@/domain/passwords/confirm-password-reset'
import { requestPasswordReset } from '@/domain/passwords/request-password-reset'
import { signIn } from '@/domain/passwords/sign-in'
import { issueAccessToken } from '@/domain/sessions/access-tokens'
import { readCredential } from '@/domain/sessions/authenticate'
import { findCaller } from '@/domain/sessions/caller'
import { asCaller, asNobody, asUser, type TestContext, type TestUser } from './domain'

// What a person does with the account: signs in, sets a password, changes the address.

/** The actor of this token; null when the token is not valid. */
export async function authenticate(
  ctx: SystemContext,
  token: string,
  origin: string | null = null,
): Promise<Actor | null> {
  const credential = await readCredential(ctx, token, origin)
  return credential && findCaller(ctx, credential)
}

/** The context of a request with a new access token of this user. */
export async function asToken(ctx: TestContext, userId: string, scopes: GrantableScope[]): Promise<Context> {
  const token = { userId, name: 'test', scopes, expiresInMs: 3_600_000, actor: 'operator' }
  const { accessToken } = await issueAccessToken(ctx, token)
  return asCaller(ctx, (await readCredential(ctx, accessToken, null)) as Credential)
}

export interface PendingTestChange extends Data<typeof changeContract> {
  code: string
}

/** The verb's input when a caller leaves out the verification method. */
export const changeInput = (user: TestUser, newEmail: string, password = user.password) => ({
  userId: user.userId,
  new_email: newEmail,
  current_password: password,
  verification_method: DEFAULT_VERIFICATION_METHOD,
})

/** A pending change, with the code that was mailed. */
export async function givenPendingChange(
  ctx: TestContext,
  user: TestUser,
  newEmail = `new-${user.email}`,
): Promise<PendingTestChange> {
  const data = await changeEmail(await asUser(ctx, user), changeInput(user, newEmail))
  await ctx.settle()
  return { ...data, code: codeSentTo(ctx, newEmail) }
}

/** The change is verified with its code, and what follows at once has been done. */
export async function givenVerifiedChange(ctx: TestContext, user: TestUser, newEmail?: string) {
  const pending = await givenPendingChange(ctx, user, newEmail)
  await verifyChange(ctx, user, pending)
  await ctx.settle()
  return pending
}

/** The person sends a code for the change: the one that was mailed, or another. */
export async function verifyChange(
  ctx: TestContext,
  user: TestUser,
  { change_request_id, code }: Pick<PendingTestChange, 'change_request_id' | 'code'>,
  verification_code = code,
) {
  return verifyEmail(await asUser(ctx, user), { userId: user.userId, change_request_id, verification_code })
}

/** The code of the newest verification message to this address. */
export function codeSentTo(ctx: TestContext, email: string): string {
  const mailed = ctx.mailbox.findLast(({ to, message }) => to === email && message.template === 'verify-new-email')
  if (mailed?.message.template !== 'verify-new-email') throw new Error(`no verification message to ${email}`)
  return mailed.message.code
}

/** A sign-in with this address and password, from a browser of which more may be said. */
export const signInAs = (
  ctx: TestContext,
  { email, password }: Pick<TestUser, 'email' | 'password'>,
  browser: Omit<Partial<Parameters<typeof signIn>[1]>, 'email' | 'password'> = {},
) => signIn(ctx, { email, password, userAgent: 'test', ip: '192.0.2.1', ...browser })

/** Whoever reads the mailbox sets a new password with a link. */
export async function resetPassword(ctx: TestContext, { email }: Pick<TestUser, 'email'>, new_password: string) {
  await requestPasswordReset(asNobody(ctx), { email })
  await ctx.settle()
  return confirmPasswordReset(asNobody(ctx, resetTokenTo(ctx, email)), { new_password })
}

/** A sign-in from each of so many new devices, after the first one ever. */
export async function signInFromNew(ctx: TestContext, user: TestUser, count: number): Promise<void> {
  for (let n = 0; n <= count; n++) await signInAs(ctx, user, { device: `${n}` })
}

/** The templates of all mails to this address, oldest first. */
export const templatesTo = (ctx: Pick<TestContext, 'mailbox'>, address: string) =>
  ctx.mailbox.filter(({ to }) => to === address).map(({ message }) => message.template)

/** The token of the newest link for a new password that was mailed to this address. */
export function resetTokenTo(ctx: TestContext, email: string): string {
  const mailed = ctx.mailbox.findLast(({ to, message }) => to === email && message.template === 'password-reset')
  if (mailed?.message.template !== 'password-reset') throw new Error(`no link to ${email}`)
  return mailed.message.link.split('#token=')[1] ?? ''
}

/** The token with every other last character. Three of them decode to the same bytes, because 43 characters have two spare bits. */
export const lookalikesOf = (token: string): string[] =>
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
    .map((last) => token.slice(0, -1) + last)
    .filter((text) => text !== token)

/** `000000` unless that is the code. */
export const wrongCode = (code: string) => (code === '000000' ? '000001' : '000000')
