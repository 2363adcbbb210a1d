import { beforeEach, expect, test } from 'vitest'
import {
  asToken,
  authenticate,
  givenPendingChange,
  givenVerifiedChange,
  lookalikesOf,
  resetPassword,
  signInAs,
} from '@/testing/account'
import { asNobody, asUser, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { outcomeOf, tally } from '@/testing/outcomes'
import { withdrawAs } from '@/testing/withdrawals'
import { createNotMeToken } from '../email/not-me-token'
import { undoEmailChange } from '../email/undo-email-change'
import { authenticateSession } from '../sessions/authenticate'
import { createSessionToken } from '../sessions/page-tokens'
import { endSessionOf } from '../sessions/sessions'
import { changePassword } from './change-password'
import { disownSignIn, getSignIn } from './disown-sign-in'

const day = 24 * 60 * 60_000
const NEW = 'staple carries a lantern'

let ctx: TestContext
let user: TestUser

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
  await signInFrom('device of the owner')
})

async function signInFrom(device: string, password = user.password) {
  const browser = { userAgent: 'Firefox/145.0', ip: '192.0.2.66', device }
  const signedIn = await signInAs(ctx, { ...user, password }, browser)
  await ctx.settle()
  return signedIn?.sessionId ?? ''
}

interface Link {
  sessionId: string
  token: string
}

/** The link in the newest mail about a sign-in. */
function newestLink(): Link {
  const mail = ctx.mailbox.findLast(({ message }) => message.template === 'new-device')
  const url = mail?.message.template === 'new-device' ? (mail.message.details?.notMe.url ?? '') : ''
  const fragment = new URLSearchParams(new URL(url).hash.slice(1))
  return { sessionId: fragment.get('session') ?? '', token: fragment.get('token') ?? '' }
}

async function givenStranger(device = 'device of a stranger'): Promise<Link> {
  await signInFrom(device)
  return newestLink()
}

const read = ({ sessionId, token }: Link) => getSignIn(asNobody(ctx, token), { sessionId })
const press = ({ sessionId, token }: Link, new_password: string | undefined = NEW, ip?: string) =>
  disownSignIn(asNobody(ctx, token, ip), { sessionId, new_password })
/** Without a new password. */
const pressBare = ({ sessionId, token }: Link) => disownSignIn(asNobody(ctx, token), { sessionId })

test('B89 the link shows the sign-in and changes nothing, and its button ends all access and sets the new password', async () => {
  const link = await givenStranger()
  const pending = await givenPendingChange(ctx, user)
  const token = await asToken(ctx, user.userId, ['email:manage'])
  const pageToken = createSessionToken(ctx, link.sessionId).token
  expect(await read(link)).toEqual({
    session_id: link.sessionId,
    signed_in_at: ctx.clock.now().toISOString(),
    user_agent: 'Firefox/145.0',
    ip_address: '192.0.2.66',
    email: user.email,
    has_password: true,
    works_until: new Date(ctx.clock.now().getTime() + 7 * day).toISOString(),
  })
  expect(await authenticate(ctx, pageToken)).not.toBeNull()

  expect(await press(link)).toEqual({ session_id: link.sessionId, ended: true })
  await ctx.settle()
  for (const sessionId of [link.sessionId, user.sessionId]) expect(await authenticateSession(ctx, sessionId)).toBeNull()
  expect(await authenticate(ctx, pageToken)).toBeNull()
  expect(await ctx.db.accessToken.count({ where: { userId: token.actor.userId, revokedAt: null } })).toBe(0)
  const change = await ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id: pending.change_request_id } })
  expect(change.status).toBe('cancelled')
  expect(await signInFrom('x')).toBe('')
  expect(await signInFrom('x', NEW)).not.toBe('')
  expect(ctx.mailbox.map(({ message }) => message.template)).toContain('password-changed')
  const audits = await ctx.db.auditEvent.findMany({ where: { userId: user.userId, action: 'sign_in.disowned' } })
  expect(audits).toMatchObject([{ actor: 'mailed_link', subjectId: link.sessionId }])
})

test('B89 an account without a password is signed out everywhere, and gets none', async () => {
  const link = await givenStranger()
  await ctx.db.user.update({ where: { id: user.userId }, data: { passwordHash: null } })
  expect(await outcomeOf(press(link))).toBe('PASSWORD_001')
  expect(await pressBare(link)).toEqual({ session_id: link.sessionId, ended: true })
  expect(await authenticateSession(ctx, user.sessionId)).toBeNull()
})

test('B89 a new password that does not fit counts in no limit, and one is needed where the account has one', async () => {
  ctx.limits = { ...ctx.limits, notMe: { places: 1, windowMs: day } }
  const link = await givenStranger()
  for (const password of ['password', user.password, 'ada lovelace']) {
    expect(await outcomeOf(press(link, password))).toBe('PASSWORD_001')
  }
  expect(await outcomeOf(pressBare(link))).toBe('PASSWORD_001')
  expect(await outcomeOf(press(link))).toBe('accepted')
})

test('B90 one of twenty presses has an effect, and the link then gets the answer of every link that does not work', async () => {
  const [link, other] = [await givenStranger(), await givenStranger('another device of a stranger')]
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => outcomeOf(press(link))))
  expect(tally(outcomes)).toEqual({ accepted: 1, EMAIL_006: 9 })
  expect(await outcomeOf(read(link))).toBe('EMAIL_006')
  // It was one password for the whole account, so the links of its other sign-ins have ended too.
  expect(await outcomeOf(press(other))).toBe('EMAIL_006')
})

test('B90 only the token of this sign-in opens it, for seven days', async () => {
  const [link, other] = [await givenStranger(), await givenStranger('another device of a stranger')]
  const wrong = [other.token, createNotMeToken(ctx, link.sessionId), '', ...lookalikesOf(link.token).slice(0, 5)]
  for (const token of wrong) expect(await outcomeOf(press({ ...link, token }))).toBe('EMAIL_006')
  expect(await outcomeOf(press({ ...link, sessionId: user.sessionId }))).toBe('EMAIL_006')
  ctx.clock.advance(7 * day - 1)
  expect(await outcomeOf(read(link))).toBe('accepted')
  ctx.clock.advance(1)
  expect(await outcomeOf(press(link))).toBe('EMAIL_006')
})

test('B90 wrong tokens count for their client and take no place of the right one', async () => {
  ctx.limits = { ...ctx.limits, notMeAddress: { places: 2, windowMs: day } }
  const link = await givenStranger()
  const wrong = { ...link, token: `nme_${'A'.repeat(43)}` }
  const outcomes: string[] = []
  for (let n = 0; n < 3; n++) outcomes.push(await outcomeOf(press(wrong, NEW, '203.0.113.9')))
  expect(outcomes).toEqual(['EMAIL_006', 'EMAIL_006', 'EMAIL_008'])
  expect(await outcomeOf(press(link, NEW, '203.0.113.9'))).toBe('accepted')
})

test('B90 a password that was set by mail ends the link, and one that was set in the settings does not', async () => {
  const link = await givenStranger()
  const signedIn = { ...user, sessionId: link.sessionId }
  const input = { userId: user.userId, current_password: user.password, new_password: 'the password of a thief' }
  await changePassword(await asUser(ctx, signedIn), input)
  expect(await outcomeOf(read(link))).toBe('accepted')
  await resetPassword(ctx, user, NEW)
  expect(await outcomeOf(press(link))).toBe('EMAIL_006')
})

test('B90 the link ends with the address that it was sent to; the link of that change takes over, and then none is left', async () => {
  const link = await givenStranger()
  const { change_request_id: changeRequestId } = await givenVerifiedChange(ctx, { ...user, sessionId: link.sessionId })
  expect(await outcomeOf(read(link))).toBe('EMAIL_006')
  expect(await outcomeOf(press(link))).toBe('EMAIL_006')
  const undo = { changeRequestId, new_password: NEW }
  await undoEmailChange(asNobody(ctx, createNotMeToken(ctx, changeRequestId)), undo)
  expect(await outcomeOf(press(link, 'another good password'))).toBe('EMAIL_006')
})

test('B90 the link works after the operator has ended the session, and not after a withdrawal', async () => {
  const link = await givenStranger()
  await endSessionOf(ctx, link.sessionId)
  expect(await outcomeOf(read(link))).toBe('accepted')
  await withdrawAs(ctx, user)
  expect(await outcomeOf(press(link))).toBe('EMAIL_006')
})

test('a sign-in from a known device has no link', async () => {
  const sessionId = await signInFrom('device of the owner')
  const { token } = await givenStranger()
  expect(await outcomeOf(read({ sessionId, token }))).toBe('EMAIL_006')
})

test('B89 a password that is set while the link is pressed is not lost', async () => {
  const link = await givenStranger()
  await ctx.db.user.update({ where: { id: user.userId }, data: { passwordHash: null } })
  const passwordHash = await ctx.passwords.hash(NEW)
  const nobody = asNobody(ctx, link.token)
  const transaction = async (work: never) => {
    await ctx.db.user.update({ where: { id: user.userId }, data: { passwordHash } })
    return nobody.transaction(work)
  }
  const pressed = disownSignIn({ ...nobody, transaction: transaction as never }, { sessionId: link.sessionId })
  expect(await outcomeOf(pressed)).toBe('PASSWORD_001')
  expect(await ctx.db.user.findUnique({ where: { id: user.userId } })).toMatchObject({ passwordHash })
})
