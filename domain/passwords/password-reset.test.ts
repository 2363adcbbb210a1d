import { beforeEach, expect, test } from 'vitest'
import { LINK_NOTICES, NOTICE_KINDS } from '@/domain/notices'
import { createSecrets } from '@/server/adapters/secrets'
import { authenticate, givenPendingChange, resetTokenTo, signInAs, templatesTo } from '@/testing/account'
import { givenToken } from '@/testing/callers'
import { asNobody, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { failingAt, outcomeOf } from '@/testing/outcomes'
import { givenWithdrawal } from '@/testing/withdrawals'
import { setPassword } from '../accounts/user'
import { sendDueNotices } from '../mail/notice-queue'
import { answerDueLinkRequests } from '../mail/request-link'
import { requestWithdrawal } from '../withdrawal/request-withdrawal'
import { confirmPasswordReset } from './confirm-password-reset'
import { getPasswordReset } from './get-password-reset'
import { requestPasswordReset } from './request-password-reset'

const [minute, hour] = [60_000, 3_600_000]
const NEW = 'a password of the owner alone'

let ctx: TestContext
let user: TestUser

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
})

let clients = 0
/** Each call comes from another client. */
const ask = async (email = user.email) => {
  const answer = await requestPasswordReset(asNobody(ctx, '', `client ${clients++}`), { email })
  await ctx.settle()
  return answer
}
const confirm = (token: string, password: string | null = NEW) =>
  outcomeOf(confirmPasswordReset(asNobody(ctx, token), { new_password: password }))
const canSignIn = async (password: string) => (await signInAs(ctx, { ...user, password })) !== null
const leftover = () => ctx.db.linkRequest.count()

/** The token that is mailed to this person. */
async function givenLink({ email }: TestUser = user) {
  await ask(email)
  return resetTokenTo(ctx, email)
}

test('B41 the mailed link sets a new password, which ends every session and token and cancels the pending change', async () => {
  const { token } = await givenToken(ctx, user.userId)
  const { change_request_id: id } = await givenPendingChange(ctx, user)
  expect(await ask(user.email.toUpperCase())).toEqual({ accepted: true })
  expect(await confirm(resetTokenTo(ctx, user.email))).toBe('accepted')
  await ctx.settle()
  expect(await canSignIn(user.password)).toBe(false)
  expect(await ctx.db.session.count({ where: { userId: user.userId, revokedAt: null } })).toBe(0)
  expect(await canSignIn(NEW)).toBe(true)
  expect(await authenticate(ctx, token)).toBeNull()
  expect(await ctx.db.emailChangeRequest.findUnique({ where: { id } })).toMatchObject({ status: 'cancelled' })
  expect(templatesTo(ctx, user.email)).toEqual(['email-change-requested', 'password-reset', 'password-changed'])
  expect(ctx.mailbox.at(-1)?.message).toMatchObject({ keepsBrowser: false })
})

const ENDS: [string, (user: TestUser, token: string) => Promise<unknown>][] = [
  ['its use', (_user, token) => confirm(token)],
  ['those', async () => ctx.clock.advance(1)],
  ['a new password', ({ userId }) => setPassword(ctx, { userId, password: 'set meanwhile' })],
  [
    'another address',
    ({ userId: id, email }) =>
      ctx.db.user.update({ where: { id }, data: { email: `moved-${email}`, emailKey: `moved-${email}` } }),
  ],
]

test.each(ENDS)('B42 a reset link works for thirty minutes, and not after %s', async (_what, end) => {
  const token = await givenLink()
  ctx.clock.advance(30 * minute - 1)
  expect(await confirm(token, null)).toBe('PASSWORD_001')
  await end(user, token)
  expect(await confirm(token, `${NEW} 2`)).toBe('PASSWORD_002')
})

test('B42 only the exact token of a reset link works, for its own account', async () => {
  const token = await givenLink()
  const others = await givenLink(await givenUser(ctx))
  const [name = '', mac = ''] = token.split('.')
  const [othersName = '', othersMac = ''] = others.split('.')
  const mixed = [`${name}.${othersMac}`, `${othersName}.${mac}`]
  for (const one of ['', 'prt_', `${name}.`, ...mixed, `${token}A`, token.slice(0, -1)]) {
    expect([one, await confirm(one)]).toEqual([one, 'PASSWORD_002'])
  }
  expect(await canSignIn(user.password)).toBe(true)
  expect(token).not.toContain(user.userId.slice(4))
})

test('a reset link says until when it works without being used up, and nothing once it no longer works', async () => {
  const token = await givenLink()
  const read = (linkToken: string) => outcomeOf(getPasswordReset(asNobody(ctx, linkToken)))
  const worksUntil = new Date(ctx.clock.now().getTime() + 30 * minute).toISOString()
  expect(await getPasswordReset(asNobody(ctx, token))).toEqual({ works_until: worksUntil, email: user.email })
  expect(await read(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`)).toBe('PASSWORD_002')
  expect(await read(token)).toBe('accepted')
  expect(await confirm(token)).toBe('accepted')
  expect(await read(token)).toBe('PASSWORD_002')
  const next = await givenLink()
  expect(await read(next)).toBe('accepted')
  ctx.clock.advance(30 * minute)
  expect(await read(next)).toBe('PASSWORD_002')
})

test('of a hundred concurrent uses of one link exactly one has an effect', async () => {
  const token = await givenLink()
  ctx.passwords = { ...ctx.passwords, hash: async (password) => `hash of ${password}`, verify: async () => false }
  const outcomes = await Promise.all(Array.from({ length: 100 }, (_, n) => confirm(token, `${NEW} ${n}`)))
  expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1)
  expect(new Set(outcomes)).toEqual(new Set(['accepted', 'PASSWORD_002']))
  expect(await ctx.db.user.findUnique({ where: { id: user.userId } })).toMatchObject({ credentialVersion: 1 })
})

test('a link still works after AUTH_SECRET gets a newer secret, and no row contains it', async () => {
  const token = await givenLink()
  const rows = await ctx.db.$queryRaw<object[]>`SELECT n::text FROM notices n WHERE user_id = ${user.userId}`
  expect(JSON.stringify(rows)).not.toContain(token.split('.')[1])
  ctx.secrets = createSecrets({ auth: ['a newer secret', 'auth-secret-for-tests'], code: ['code-secret-for-tests'] })
  expect(await confirm(token)).toBe('accepted')
})

test('the current password is refused as the new one, and the link still works', async () => {
  const token = await givenLink()
  expect(await confirm(token, user.password)).toBe('PASSWORD_001')
  expect(await confirm(token)).toBe('accepted')
})

test('B43 every address gets the same answer to a reset request, and only the account gets messages, three an hour', async () => {
  const noPassword = await givenUser(ctx)
  await ctx.db.user.update({ where: { id: noPassword.userId }, data: { passwordHash: null } })
  const { email: gone } = await givenWithdrawal(ctx)
  ctx.mailbox.splice(0)
  for (const email of [user.email, noPassword.email, gone, 'nobody@example.test']) {
    for (let n = 0; n < 5; n++) expect(await ask(email)).toEqual({ accepted: true })
  }
  expect(ctx.mailbox.map(({ to, message }) => `${to} ${message.template}`)).toEqual([
    ...Array(3).fill(`${user.email} password-reset`),
    ...Array(3).fill(`${noPassword.email} no-password-to-reset`),
  ])
  expect(await leftover()).toBe(0)
  ctx.clock.advance(hour)
  await ask()
  expect(templatesTo(ctx, user.email)).toHaveLength(4)
})

test.each([
  ['password-reset', requestPasswordReset],
  ['withdrawal-requested', requestWithdrawal],
])(
  'B44 the sweep answers a request of a dead process once, with the letter %s that was asked for',
  async (letter, request) => {
    const { email } = user
    await request({ ...asNobody(ctx), background: () => {} }, { email })
    const [row] = await ctx.db.linkRequest.findMany()
    expect(JSON.stringify(row)).not.toContain(email)
    await answerDueLinkRequests(ctx, LINK_NOTICES)
    expect(await leftover()).toBe(1)
    ctx.clock.advance(minute)
    await Promise.all([answerDueLinkRequests(ctx, LINK_NOTICES), answerDueLinkRequests(ctx, LINK_NOTICES)])
    await ctx.settle()
    expect(await leftover()).toBe(0)
    expect(templatesTo(ctx, email)).toEqual([letter])
  },
)

test('F30 requests that cannot be answered do not stop the requests behind them', async () => {
  const { background } = ctx
  ctx.background = () => {}
  for (let n = 0; n < 5; n++) await ask((await givenUser(ctx)).email)
  ctx.background = background
  ctx.clock.advance(minute)
  const rows = await ctx.db.linkRequest.findMany({ orderBy: { id: 'asc' } })
  const broken = rows.slice(0, 3).map(({ id }) => id)
  const failing = answerDueLinkRequests(failingAt(ctx, 'drop-link-request', broken), LINK_NOTICES, 2)
  await expect(failing).rejects.toMatchObject({ errors: { length: 3 } })
  await ctx.settle()
  expect(await leftover()).toBe(3)
  await answerDueLinkRequests(ctx, LINK_NOTICES)
  await ctx.settle()
  expect(await leftover()).toBe(0)
})

test('a link is sent after a mail outage, but not after its time has ended or the password was replaced', async () => {
  const [late, changed] = [await givenUser(ctx), await givenUser(ctx)]
  ctx.mailServer.accepts = false
  await ask(late.email)
  ctx.clock.advance(29 * minute)
  for (const { email } of [user, changed]) await ask(email)
  await setPassword(ctx, { userId: changed.userId, password: 'set meanwhile' })
  ctx.mailServer.accepts = true
  ctx.clock.advance(2 * minute)
  await sendDueNotices(ctx, NOTICE_KINDS)
  expect(await confirm(resetTokenTo(ctx, user.email))).toBe('accepted')
  for (const { email } of [late, changed]) expect(templatesTo(ctx, email)).not.toContain('password-reset')
  const waiting = { userId: changed.userId, kind: 'password_reset', dueAt: { not: null } }
  expect(await ctx.db.notice.count({ where: waiting })).toBe(0)
})

test('a reset is refused if nobody signs in with a password', async () => {
  const token = await givenLink()
  ctx.hasPasswordSignIn = false
  expect(await outcomeOf(ask())).toBe('REQUEST_005')
  expect(await confirm(token)).toBe('REQUEST_005')
})
