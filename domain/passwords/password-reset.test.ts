import { expect, test } from 'vitest'
import { LINK_NOTICES, NOTICE_KINDS } from '@/domain/notices'
import { createSecrets } from '@/server/adapters/secrets'
import {
  asNobody,
  authenticate,
  failingAt,
  givenPendingChange,
  givenUser,
  givenWithdrawal,
  outcomeOf,
  type TestContext,
  type TestUser,
  testContext,
} from '@/testing/domain'
import { setPassword } from '../accounts/user'
import { sendDueNotices } from '../mail/notice-queue'
import { answerDueLinkRequests } from '../mail/request-link'
import { issueAccessToken } from '../sessions/access-tokens'
import { requestWithdrawal } from '../withdrawal/request-withdrawal'
import { confirmPasswordReset } from './confirm-password-reset'
import { getPasswordReset } from './get-password-reset'
import { requestPasswordReset } from './request-password-reset'
import { signIn } from './sign-in'

const [minute, hour] = [60_000, 3_600_000]
const NEW = 'a password of the owner alone'

let clients = 0
/** Each call comes from another client. */
const ask = async (ctx: TestContext, email: string, ip = `client ${clients++}`) => {
  const answer = await requestPasswordReset(asNobody(ctx, '', ip), { email })
  await ctx.settle()
  return answer
}
const lettersTo = (ctx: TestContext, email: string) =>
  ctx.mailbox.filter(({ to }) => to === email).map(({ message }) => message)
/** The token of the newest link that was mailed to this address. */
function tokenSentTo(ctx: TestContext, email: string): string {
  const link = lettersTo(ctx, email).findLast(({ template }) => template === 'password-reset')
  if (link?.template !== 'password-reset') throw new Error(`no link to ${email}`)
  return link.link.split('#token=')[1] ?? ''
}
const confirm = (ctx: TestContext, token: string, password: string | null = NEW) =>
  outcomeOf(confirmPasswordReset(asNobody(ctx, token), { new_password: password }))
const canSignIn = async (ctx: TestContext, { email }: TestUser, password: string) =>
  (await signIn(ctx, { email, password, userAgent: 'test', ip: '192.0.2.1' })) !== null
const leftover = (ctx: TestContext) => ctx.db.linkRequest.count()

async function givenLink() {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  await ask(ctx, user.email)
  return { ctx, user, token: tokenSentTo(ctx, user.email) }
}

test('B41 the mailed link sets a new password, which ends every session and token and cancels the pending change', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const wanted = { userId: user.userId, name: 'test', scopes: ['account:manage' as const], actor: 'operator' }
  const { accessToken } = await issueAccessToken(ctx, { ...wanted, expiresInMs: hour })
  const { change_request_id: id } = await givenPendingChange(ctx, user)
  expect(await ask(ctx, user.email.toUpperCase())).toEqual({ accepted: true })
  expect(await confirm(ctx, tokenSentTo(ctx, user.email))).toBe('accepted')
  await ctx.settle()
  expect(await canSignIn(ctx, user, user.password)).toBe(false)
  expect(await ctx.db.session.count({ where: { userId: user.userId, revokedAt: null } })).toBe(0)
  expect(await canSignIn(ctx, user, NEW)).toBe(true)
  expect(await authenticate(ctx, accessToken)).toBeNull()
  expect(await ctx.db.emailChangeRequest.findUnique({ where: { id } })).toMatchObject({ status: 'cancelled' })
  expect(lettersTo(ctx, user.email).map(({ template }) => template)).toEqual([
    'email-change-requested',
    'password-reset',
    'password-changed',
  ])
})

test('B42 a reset link works once, for thirty minutes, only for its own account and while its address stays', async () => {
  const used = await givenLink()
  expect(await confirm(used.ctx, used.token)).toBe('accepted')
  expect(await confirm(used.ctx, used.token, `${NEW} 2`)).toBe('PASSWORD_002')

  const late = await givenLink()
  late.ctx.clock.advance(30 * minute - 1)
  expect(await confirm(late.ctx, late.token, null)).toBe('PASSWORD_001')
  late.ctx.clock.advance(1)
  expect(await confirm(late.ctx, late.token)).toBe('PASSWORD_002')

  const changed = await givenLink()
  await setPassword(changed.ctx, { userId: changed.user.userId, password: 'set meanwhile' })
  expect(await confirm(changed.ctx, changed.token)).toBe('PASSWORD_002')

  const moved = await givenLink()
  const email = `moved-${moved.user.email}`
  await moved.ctx.db.user.update({ where: { id: moved.user.userId }, data: { email, emailKey: email } })
  expect(await confirm(moved.ctx, moved.token)).toBe('PASSWORD_002')

  const { ctx, user, token } = await givenLink()
  const stranger = await givenUser(ctx)
  await ask(ctx, stranger.email)
  const others = tokenSentTo(ctx, stranger.email)
  const [name = '', mac = ''] = token.split('.')
  const [othersName = '', othersMac = ''] = others.split('.')
  const wrong = [
    '',
    'prt_',
    `${name}.`,
    `${name}.${othersMac}`,
    `${othersName}.${mac}`,
    `${token}A`,
    token.slice(0, -1),
  ]
  for (const one of wrong) expect([one, await confirm(ctx, one)]).toEqual([one, 'PASSWORD_002'])
  expect(await canSignIn(ctx, user, user.password)).toBe(true)
  expect(token).not.toContain(user.userId.slice(4))
})

test('a reset link says until when it works without being used up, and nothing once it no longer works', async () => {
  const { ctx, user, token } = await givenLink()
  const read = (linkToken: string) => outcomeOf(getPasswordReset(asNobody(ctx, linkToken)))
  const worksUntil = new Date(ctx.clock.now().getTime() + 30 * minute).toISOString()
  expect(await getPasswordReset(asNobody(ctx, token))).toEqual({ works_until: worksUntil })
  expect(await read(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`)).toBe('PASSWORD_002')
  expect(await read(token)).toBe('accepted')
  expect(await confirm(ctx, token)).toBe('accepted')
  expect(await read(token)).toBe('PASSWORD_002')
  ctx.clock.advance(hour)
  await ask(ctx, user.email)
  const next = tokenSentTo(ctx, user.email)
  expect(await read(next)).toBe('accepted')
  ctx.clock.advance(30 * minute)
  expect(await read(next)).toBe('PASSWORD_002')
})

test('of a hundred concurrent uses of one link exactly one has an effect', async () => {
  const { ctx, user, token } = await givenLink()
  ctx.passwords = { ...ctx.passwords, hash: async (password) => `hash of ${password}`, verify: async () => false }
  const outcomes = await Promise.all(Array.from({ length: 100 }, (_, n) => confirm(ctx, token, `${NEW} ${n}`)))
  expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1)
  expect(new Set(outcomes)).toEqual(new Set(['accepted', 'PASSWORD_002']))
  expect(await ctx.db.user.findUnique({ where: { id: user.userId } })).toMatchObject({ credentialVersion: 1 })
})

test('a link still works after AUTH_SECRET gets a newer secret, and no row contains it', async () => {
  const { ctx, user, token } = await givenLink()
  const rows = await ctx.db.$queryRaw<object[]>`SELECT n::text FROM notices n WHERE user_id = ${user.userId}`
  expect(JSON.stringify(rows)).not.toContain(token.split('.')[1])
  ctx.secrets = createSecrets({ auth: ['a newer secret', 'auth-secret-for-tests'], code: ['code-secret-for-tests'] })
  expect(await confirm(ctx, token)).toBe('accepted')
})

test('the current password is refused as the new one, and the link still works', async () => {
  const { ctx, user, token } = await givenLink()
  expect(await confirm(ctx, token, user.password)).toBe('PASSWORD_001')
  expect(await confirm(ctx, token)).toBe('accepted')
})

test('B43 every address gets the same answer to a reset request, and only the account gets messages, three an hour', async () => {
  const ctx = await testContext()
  const [user, noPassword] = [await givenUser(ctx), await givenUser(ctx)]
  await ctx.db.user.update({ where: { id: noPassword.userId }, data: { passwordHash: null } })
  const { email: gone } = await givenWithdrawal(ctx)
  ctx.mailbox.splice(0)
  for (const email of [user.email, noPassword.email, gone, 'nobody@example.test']) {
    for (let n = 0; n < 5; n++) expect(await ask(ctx, email)).toEqual({ accepted: true })
  }
  expect(ctx.mailbox.map(({ to, message }) => `${to} ${message.template}`)).toEqual([
    ...Array(3).fill(`${user.email} password-reset`),
    ...Array(3).fill(`${noPassword.email} no-password-to-reset`),
  ])
  expect(await leftover(ctx)).toBe(0)
  ctx.clock.advance(hour)
  await ask(ctx, user.email)
  expect(lettersTo(ctx, user.email)).toHaveLength(4)
})

test.each([
  ['password-reset', requestPasswordReset],
  ['withdrawal-requested', requestWithdrawal],
])(
  'B44 the sweep answers a request of a dead process once, with the letter %s that was asked for',
  async (letter, request) => {
    const ctx = await testContext()
    const { email } = await givenUser(ctx)
    await request({ ...asNobody(ctx), background: () => {} }, { email })
    const [row] = await ctx.db.linkRequest.findMany()
    expect(JSON.stringify(row)).not.toContain(email)
    await answerDueLinkRequests(ctx, LINK_NOTICES)
    expect(await leftover(ctx)).toBe(1)
    ctx.clock.advance(minute)
    await Promise.all([answerDueLinkRequests(ctx, LINK_NOTICES), answerDueLinkRequests(ctx, LINK_NOTICES)])
    await ctx.settle()
    expect(await leftover(ctx)).toBe(0)
    expect(lettersTo(ctx, email).map(({ template }) => template)).toEqual([letter])
  },
)

test('F30 requests that cannot be answered do not stop the requests behind them', async () => {
  const ctx = await testContext()
  const { background } = ctx
  ctx.background = () => {}
  for (let n = 0; n < 5; n++) await ask(ctx, (await givenUser(ctx)).email)
  ctx.background = background
  ctx.clock.advance(minute)
  const rows = await ctx.db.linkRequest.findMany({ orderBy: { id: 'asc' } })
  const broken = rows.slice(0, 3).map(({ id }) => id)
  const failing = answerDueLinkRequests(failingAt(ctx, 'drop-link-request', broken), LINK_NOTICES, 2)
  await expect(failing).rejects.toMatchObject({ errors: { length: 3 } })
  await ctx.settle()
  expect(await leftover(ctx)).toBe(3)
  await answerDueLinkRequests(ctx, LINK_NOTICES)
  await ctx.settle()
  expect(await leftover(ctx)).toBe(0)
})

test('a link is sent after a mail outage, but not after its time has ended', async () => {
  const ctx = await testContext()
  const [soon, late] = [await givenUser(ctx), await givenUser(ctx)]
  ctx.mailServer.accepts = false
  await ask(ctx, soon.email)
  ctx.mailServer.accepts = true
  ctx.clock.advance(2 * minute)
  await sendDueNotices(ctx, NOTICE_KINDS)
  expect(await confirm(ctx, tokenSentTo(ctx, soon.email))).toBe('accepted')

  ctx.mailServer.accepts = false
  await ask(ctx, late.email)
  ctx.mailServer.accepts = true
  ctx.clock.advance(31 * minute)
  await sendDueNotices(ctx, NOTICE_KINDS)
  expect(lettersTo(ctx, late.email)).toEqual([])
})

test('a link that could not be sent is not sent after a new password', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  ctx.mailServer.accepts = false
  await ask(ctx, user.email)
  ctx.mailServer.accepts = true
  await setPassword(ctx, { userId: user.userId, password: 'set meanwhile' })
  ctx.clock.advance(2 * minute)
  await sendDueNotices(ctx, NOTICE_KINDS)
  expect(lettersTo(ctx, user.email).filter(({ template }) => template === 'password-reset')).toEqual([])
})

test('a reset is refused if nobody signs in with a password', async () => {
  const { ctx, token, user } = await givenLink()
  ctx.hasPasswordSignIn = false
  expect(await outcomeOf(ask(ctx, user.email))).toBe('REQUEST_005')
  expect(await confirm(ctx, token)).toBe('REQUEST_005')
})
