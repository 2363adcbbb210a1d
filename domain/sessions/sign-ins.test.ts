import { beforeEach, expect, test } from 'vitest'
import { authenticate, givenVerifiedChange } from '@/testing/account'
import {
  asNobody,
  asUser,
  givenSession,
  givenUser,
  pass,
  type TestContext,
  type TestUser,
  testContext,
} from '@/testing/domain'
import { outcomeOf, tablesWith } from '@/testing/outcomes'
import { givenParticipant, withdrawAs } from '@/testing/withdrawals'
import { startImport } from '../accounts/import'
import { setPassword } from '../accounts/user'
import { createNotMeToken } from '../email/not-me-token'
import { undoEmailChange } from '../email/undo-email-change'
import { changePassword } from '../passwords/change-password'
import { signIn } from '../passwords/sign-in'
import type { Message } from '../ports'
import { authenticateSession } from './authenticate'
import { createSessionToken } from './page-tokens'
import { endAllSessions, endSessionOf } from './sessions'
import { signInWithProvider } from './sign-in-with-provider'
import { signOut } from './sign-ins'

const minute = 60_000
const day = 24 * 60 * minute
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

let ctx: TestContext
let user: TestUser

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
  // The first sign-in ever, which no mail tells of.
  await signInFrom('device of the owner')
})

async function signInFrom(
  device: string | undefined,
  { ip = '192.0.2.1', password = user.password, replaces = '' } = {},
) {
  const signedIn = await signIn(ctx, { email: user.email, password, userAgent: FIREFOX, ip, device, replaces })
  await ctx.settle()
  return signedIn?.sessionId ?? ''
}

const mailed = <Name extends Message['template']>(template: Name, to = user.email) =>
  ctx.mailbox.flatMap(({ to: address, message }) =>
    message.template === template && address === to ? [message as Extract<Message, { template: Name }>] : [],
  )

const auditsOf = async (userId = user.userId) =>
  (
    await ctx.db.auditEvent.findMany({ where: { userId, action: { startsWith: 'sign_' } }, orderBy: { at: 'asc' } })
  ).map(({ action, actor, ip }) => ({ action, actor, ip }))

test('B85 each sign-in and sign-out is audited with its way, and its row tells device and address', async () => {
  const sessionId = await signInFrom('device of the owner')
  await signOut(ctx, sessionId, { userAgent: FIREFOX, ip: '192.0.2.9' })
  await ctx.db.user.update({ where: { id: user.userId }, data: { externalId: `ext ${user.userId}` } })
  const byProvider = { subject: `ext ${user.userId}`, authenticatedAt: null, acr: null }
  await signInWithProvider(ctx, { ...byProvider, userAgent: FIREFOX, ip: '192.0.2.7', device: 'device of the owner' })
  expect((await auditsOf()).slice(1)).toEqual(
    expect.arrayContaining([
      { action: 'sign_in', actor: 'password', ip: null },
      { action: 'sign_out', actor: 'session', ip: null },
      { action: 'sign_in', actor: 'oidc', ip: null },
    ]),
  )
  const rows = await ctx.db.signIn.findMany({ where: { userId: user.userId } })
  expect(rows.map(({ outcome, way, ip, userAgent }) => ({ outcome, way, ip, userAgent }))).toEqual(
    expect.arrayContaining([
      { outcome: 'signed_in', way: 'password', ip: '192.0.2.1', userAgent: FIREFOX },
      { outcome: 'signed_out', way: 'session', ip: '192.0.2.9', userAgent: FIREFOX },
      { outcome: 'signed_in', way: 'oidc', ip: '192.0.2.7', userAgent: FIREFOX },
    ]),
  )
})

test('B85 refused sign-ins are audited once for each account, client and quarter of an hour, and never for an unknown account', async () => {
  const refused = async () => (await auditsOf()).filter(({ action }) => action === 'sign_in_refused').length
  const guess = (ip: string) => signInFrom('device of a stranger', { ip, password: 'not the password' })
  await Promise.all(Array.from({ length: 5 }, () => guess('2001:db8:1:2::1')))
  await guess('2001:db8:1:2:ffff::1')
  expect(await refused()).toBe(1)
  await guess('192.0.2.8')
  expect(await refused()).toBe(2)
  ctx.clock.advance(15 * minute - 1)
  await guess('192.0.2.8')
  expect(await refused()).toBe(2)
  ctx.clock.advance(minute)
  await guess('192.0.2.8')
  expect(await refused()).toBe(3)
  expect(await tablesWith(ctx, 'not the password')).toEqual([])
  const [before, rows] = [await ctx.db.signIn.count(), await ctx.db.auditEvent.count()]
  await signIn(ctx, { email: 'nobody@example.test', password: 'x', userAgent: FIREFOX, ip: '192.0.2.8' })
  await ctx.settle()
  expect([await ctx.db.signIn.count(), await ctx.db.auditEvent.count()]).toEqual([before, rows])
})

test('B119 a thousand refused sign-ins from as many networks leave a hundred rows within a quarter of an hour', async () => {
  ctx.passwords = { ...ctx.passwords, verify: async () => false }
  const refused = () => ctx.db.signIn.count({ where: { userId: user.userId, outcome: 'refused' } })
  const guess = (n: number) => signInFrom('x', { ip: `198.18.${n >> 8}.${n & 255}` })
  for (let n = 0; n < 1_000; n += 20) await Promise.all(Array.from({ length: 20 }, (_, m) => guess(n + m)))
  expect(await refused()).toBe(100)
  expect((await auditsOf()).filter(({ action }) => action === 'sign_in_refused')).toHaveLength(100)
  ctx.clock.advance(15 * minute)
  await guess(1_000)
  expect(await refused()).toBe(101)
})

test('B85 a sign-in that a limit refuses is audited', async () => {
  ctx.limits = { ...ctx.limits, signIn: { places: 1, windowMs: minute } }
  await signInFrom('x', { password: 'wrong' })
  ctx.clock.advance(16 * minute)
  await signInFrom('x', { password: 'wrong' })
  expect(await outcomeOf(signInFrom('x'))).toBe('RATE_001')
  await ctx.settle()
  expect((await auditsOf()).filter(({ action }) => action === 'sign_in_refused')).toHaveLength(2)
})

test('B86 a sign-in from a new device mails the address at once with time, device and address, and from a known one nothing', async () => {
  await signInFrom('device of the owner')
  expect(mailed('new-device')).toEqual([])
  ctx.clock.advance(minute)
  const sessionId = await signInFrom('another device', { ip: '192.0.2.66' })
  expect(mailed('new-device')).toEqual([
    {
      template: 'new-device',
      userName: 'Ada Lovelace',
      hasPassword: true,
      signedInAt: ctx.clock.now(),
      details: {
        userAgent: FIREFOX,
        ipAddress: '192.0.2.66',
        notMe: {
          url: expect.stringMatching(
            new RegExp(`^https://accounts\\.test/not-me#session=${sessionId}&token=nme_[\\w-]{43}$`),
          ),
          until: new Date(ctx.clock.now().getTime() + 7 * day),
        },
      },
    },
  ])
  await signInFrom('another device')
  expect(mailed('new-device')).toHaveLength(1)
})

test('B86 a device is known for 90 days after its last sign-in, and a browser without the cookie never', async () => {
  ctx.clock.advance(90 * day - 1)
  await signInFrom('device of the owner')
  expect(mailed('new-device')).toHaveLength(0)
  ctx.clock.advance(90 * day)
  await signInFrom('device of the owner')
  expect(mailed('new-device')).toHaveLength(1)
  await signInFrom(undefined)
  await signInFrom(undefined)
  expect(mailed('new-device')).toHaveLength(3)
})

test('B86 a device of one account is new to every other, and no row shows that both share it', async () => {
  const other = await givenUser(ctx)
  const shared = { password: other.password, userAgent: FIREFOX, ip: '192.0.2.1', device: 'device of the owner' }
  for (let time = 0; time < 2; time++) await signIn(ctx, { email: other.email, ...shared, device: `own ${time}` })
  await signIn(ctx, { email: other.email, ...shared })
  await ctx.settle()
  expect(mailed('new-device', other.email)).toHaveLength(2)
  const devices = await ctx.db.signIn.findMany({ where: { userId: { in: [user.userId, other.userId] } } })
  const hashes = devices.map(({ userId, device }) => `${userId} ${Buffer.from(device ?? []).toString('hex')}`)
  const byHash = Map.groupBy(new Set(hashes), (text) => text.split(' ')[1])
  expect([...byHash.values()].every((accounts) => accounts.length === 1)).toBe(true)
})

test('B86 idle and imported accounts are not exempt: only the first sign-in ever of an account made here is', async () => {
  const email = `imported-${user.email}`
  const line = { email, email_verified: true, name: 'Mary', password: { format: 'bcrypt', value: IMPORTED } }
  const [imported] = await startImport(ctx).take([{ line: 1, text: JSON.stringify({ external_id: email, ...line }) }])
  expect(imported).toMatchObject({ result: 'created' })
  await signIn(ctx, { email, password: 'imported password', userAgent: FIREFOX, ip: '192.0.2.1', device: 'hers' })
  await ctx.settle()
  expect(mailed('new-device', email)).toHaveLength(1)
  ctx.clock.advance(400 * day)
  await signInFrom('yet another device')
  expect(mailed('new-device')).toHaveLength(1)
})
const IMPORTED = '$2b$04$UE/vOElqme4l7r9iwy1G5upFaDeMYbFPpZg7zAAwplCgrJGqE1dim'

test('B86 an unverified address gets neither device nor IP address nor link', async () => {
  await ctx.db.user.update({ where: { id: user.userId }, data: { emailVerifiedAt: null } })
  await signInFrom('another device')
  expect(mailed('new-device')).toMatchObject([{ details: null }])
})

test('B87 a thousand new devices of a day bring three mails, and one when the day ends', async () => {
  const { passwords } = ctx
  ctx.passwords = { ...passwords, verify: async () => true }
  for (let n = 0; n < 3; n++) {
    await signInFrom(`new ${n}`)
    ctx.clock.advance(minute)
  }
  for (let n = 3; n < 1_000; n += 10) {
    await Promise.all(Array.from({ length: Math.min(10, 1_000 - n) }, (_, m) => signInFrom(`new ${n + m}`)))
  }
  expect(mailed('new-device')).toHaveLength(3)
  await pass(ctx, day - 4 * minute)
  expect(mailed('new-devices')).toHaveLength(0)
  await pass(ctx, 2 * minute)
  const digests = mailed('new-devices')
  expect(digests).toMatchObject([{ more: 987, notMe: { url: expect.stringContaining('/not-me#session=ses_') } }])
  expect(digests[0]?.signIns).toHaveLength(10)
  await pass(ctx, 2 * day)
  expect(mailed('new-devices')).toHaveLength(1)
  await signInFrom('on another day')
  expect(mailed('new-device')).toHaveLength(4)
})

test('B87 NEW_DEVICE_MAIL=0 switches the mail off, and applications hear of the sign-in all the same', async () => {
  ctx.newDeviceMail = false
  await givenParticipant(ctx, 'listener', { events: ['account.signed_in_from_new_device'] })
  await signInFrom('another device')
  expect(mailed('new-device')).toEqual([])
  const events = await ctx.db.event.findMany({ where: { userId: user.userId } })
  expect(events.map(({ type }) => type)).toEqual(['account.signed_in_from_new_device'])
  await ctx.db.connectedApp.deleteMany()
})

test.each<[string, (id: string) => Promise<unknown>]>([
  ['a new password by the operator', (userId) => setPassword(ctx, { userId, password: user.password.toUpperCase() })],
  ['the end of all sessions', (userId) => endAllSessions(ctx, userId)],
])('B86 %s forgets all devices', async (_what, end) => {
  await end(user.userId)
  await ctx.db.user.update({
    where: { id: user.userId },
    data: { passwordHash: await ctx.passwords.hash(user.password) },
  })
  await signInFrom('device of the owner')
  expect(mailed('new-device')).toHaveLength(1)
})

test('B86 the end of one session forgets no device, and a page token is no sign-in', async () => {
  const sessionId = await signInFrom('device of the owner')
  await authenticate(ctx, createSessionToken(ctx, sessionId).token)
  await endSessionOf(ctx, sessionId)
  await signInFrom('device of the owner')
  expect(mailed('new-device')).toEqual([])
})

test('B86 a new password forgets the devices, the acting one too', async () => {
  const sessionId = await signInFrom('device of the owner')
  const input = { userId: user.userId, current_password: user.password, new_password: 'staple carries a lantern' }
  await changePassword(await asUser(ctx, { ...user, sessionId }), input)
  expect(await authenticateSession(ctx, sessionId)).not.toBeNull()
  await signInFrom('device of the owner', { password: input.new_password })
  expect(mailed('new-device')).toHaveLength(1)
})

test('B86 who signs in again in a browser that is signed in to the account has no new device, and in any other one has', async () => {
  const sessionId = await signInFrom('device of the owner')
  const password = 'staple carries a lantern'
  const input = { userId: user.userId, current_password: user.password, new_password: password }
  await changePassword(await asUser(ctx, { ...user, sessionId }), input)
  const again = await signInFrom('device of the owner', { password, replaces: sessionId })
  expect(await authenticateSession(ctx, sessionId)).toBeNull()
  expect(mailed('new-device')).toEqual([])
  await signInFrom('device of the owner', { password })
  expect(mailed('new-device')).toEqual([])

  const other = await givenUser(ctx)
  const foreign = await givenSession(ctx, other.userId)
  await signInFrom('device of a thief', { password, replaces: foreign })
  await endSessionOf(ctx, again)
  await signInFrom('device of another thief', { password, replaces: again })
  expect(mailed('new-device')).toHaveLength(2)
})

test('B88 device and address of a sign-in go after 90 days, and with the profile of a withdrawn account', async () => {
  ctx.clock.advance(90 * day + 1)
  await pass(ctx, 0)
  expect(await ctx.db.signIn.count({ where: { userId: user.userId } })).toBe(0)
  expect(await auditsOf()).toMatchObject([{ action: 'sign_in' }])

  const sessionId = await givenSession(ctx, user.userId)
  const withdrawing = { ...user, sessionId }
  await signInFrom('last device', { ip: '192.0.2.250' })
  await withdrawAs(ctx, withdrawing)
  expect(await tablesWith(ctx, '192.0.2.250')).toContain('sign_ins')
  await pass(ctx, 5 * minute)
  expect(await tablesWith(ctx, '192.0.2.250')).toEqual([])
})

test('B86 the mail goes to the address of the sign-in, while a change of it can be undone as well', async () => {
  const sessionId = await givenSession(ctx, user.userId)
  await givenVerifiedChange(ctx, { ...user, sessionId }, `new-${user.email}`)
  user = { ...user, email: `new-${user.email}` }
  await signInFrom('a stranger’s device')
  expect(mailed('new-device')).toHaveLength(1)
})

test('B87 a digest that was opened for an address that is replaced tells nothing of later sign-ins', async () => {
  for (let n = 0; n < 4; n++) await signInFrom(`before ${n}`, { ip: '192.0.2.11' })
  ctx.clock.advance(minute)
  const old = user.email
  const sessionId = await givenSession(ctx, user.userId)
  await givenVerifiedChange(ctx, { ...user, sessionId }, `new-${old}`)
  user = { ...user, email: `new-${old}` }
  ctx.clock.advance(minute)
  for (let n = 0; n < 5; n++) await signInFrom(`after ${n}`, { ip: '192.0.2.22' })
  expect(mailed('new-device')).toHaveLength(3)
  await pass(ctx, day + minute)
  const addresses = (to: string) => mailed('new-devices', to).map(({ signIns }) => signIns.map((one) => one.ipAddress))
  expect(addresses(old)).toEqual([['192.0.2.11']])
  expect(addresses(user.email)).toEqual([['192.0.2.22', '192.0.2.22']])
})

test('B87 after an undo the restored address gets mails and a digest of its own, and the undone one hears of nothing later', async () => {
  const [old, undone] = [user.email, `new-${user.email}`]
  const sessionId = await givenSession(ctx, user.userId)
  const { change_request_id: changeRequestId } = await givenVerifiedChange(ctx, { ...user, sessionId }, undone)
  user = { ...user, email: undone }
  for (let n = 0; n < 4; n++) await signInFrom(`before ${n}`, { ip: '192.0.2.11' })
  ctx.clock.advance(minute)
  const password = 'staple carries a lantern'
  await undoEmailChange(asNobody(ctx, createNotMeToken(ctx, changeRequestId)), {
    changeRequestId,
    new_password: password,
  })
  user = { ...user, email: old, password }
  ctx.clock.advance(minute)
  for (let n = 0; n < 5; n++) await signInFrom(`after ${n}`, { ip: '192.0.2.22' })
  expect([mailed('new-device', undone).length, mailed('new-device', old).length]).toEqual([3, 3])
  await pass(ctx, day + minute)
  const addresses = (to: string) => mailed('new-devices', to).map(({ signIns }) => signIns.map((one) => one.ipAddress))
  expect(addresses(undone)).toEqual([['192.0.2.11']])
  expect(addresses(old)).toEqual([['192.0.2.22', '192.0.2.22']])
})

test('B85 a refused sign-in that is noted already waits for no lock of its account', async () => {
  const guess = () => signInFrom('device of a stranger', { password: 'not the password' })
  await guess()
  ctx.clock.advance(minute)
  await ctx.db.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT FROM users WHERE id = ${user.userId} FOR UPDATE`
    await guess()
  })
  expect((await auditsOf()).filter(({ action }) => action === 'sign_in_refused')).toHaveLength(1)
})
