import { expect, onTestFinished, test } from 'vitest'
import type { EventType } from '@/contract/vocabulary'
import { changeInput, givenVerifiedChange, resetPassword } from '@/testing/account'
import { givenToken } from '@/testing/callers'
import { asService, asUser, givenSession, givenUser, pass, type TestContext, testContext } from '@/testing/domain'
import { outcomeOf, tablesWith } from '@/testing/outcomes'
import { withdrawAs, withdrawalOf } from '@/testing/withdrawals'
import { putUser } from '../accounts/put-user'
import { setPassword } from '../accounts/user'
import { changeEmail } from '../email/change-email'
import { changePassword } from '../passwords/change-password'
import { revokeAccessToken, revokeAllTokens, revokeTokenOf } from '../sessions/access-tokens'
import { endUserSessions } from '../sessions/end-user-sessions'
import { endAllSessions, endOtherSessions, endSession, endSessionOf } from '../sessions/sessions'
import { connectApp, putConnection, removeConnection } from './connect'
import { registerApp } from './manage'
import { resendEvents } from './operate-deliveries'

const [hour, day] = [3_600_000, 86_400_000]
const ALL: EventType[] = [
  'account.email_change_requested',
  'account.email_changed',
  'account.password_changed',
  'account.sessions_ended',
  'account.withdrawal_started',
  'account.withdrawal_completed',
  'account.purged',
]

interface ReceivedEvent {
  id: string
  type: EventType
  data: { subject: string; version: number; [member: string]: unknown }
}

/** An application that gets every event, and its messages; `status` is its answer. */
async function givenApplication(settings: { audience?: string; includes?: string[]; events?: EventType[] } = {}) {
  const ctx = await testContext()
  // The tests share a database, and what one leaves in the background would take the deliveries of the next.
  onTestFinished(() => ctx.settle())
  await ctx.db.connectedApp.deleteMany({ where: { connections: { none: {} } } })
  const { audience = 'everyone', includes = [], events = ALL } = settings
  const received: ReceivedEvent[] = []
  const state = { status: 204 }
  const host = `shop-${ctx.secrets.randomId('').toLowerCase().replaceAll(/[-_]/g, '0')}.test`
  ctx.apps.answer = async ({ endpoint, headers, body }) => {
    if (new URL(endpoint).host !== host) return { status: 204 }
    const { type, data } = JSON.parse(body) as ReceivedEvent
    if (type !== 'account.withdrawn') received.push({ id: headers['webhook-id'] ?? '', type, data })
    return { status: state.status }
  }
  const secret = 'whsec_c2VjcmV0'
  const { appId } = await registerApp(ctx, { name: 'shop', endpoint: `https://${host}/hook`, secret, events })
  await ctx.db.connectedApp.update({ where: { id: appId }, data: { audience, includes } })
  return { ctx, appId, received, state }
}

async function runToTheEnd(ctx: TestContext) {
  for (const ms of [5 * 60_000, hour, day]) await pass(ctx, ms)
}

test('a change sends an event when it is requested and when it is verified, with only the id of the change', async () => {
  const { ctx, received } = await givenApplication()
  const user = await givenUser(ctx)
  const { change_request_id: changeId } = await givenVerifiedChange(ctx, user, `new-${user.email}`)
  const data = { change_request_id: changeId, subject: user.userId, account: user.userId }
  expect(received).toMatchObject([
    { type: 'account.email_change_requested', data },
    { type: 'account.email_changed', data },
  ])
  expect(Object.keys(received[1]?.data ?? {}).sort()).toEqual(['account', 'change_request_id', 'subject', 'version'])
  const { version } = await ctx.db.user.findUniqueOrThrow({ where: { id: user.userId } })
  expect(received.map((event) => event.data.version)).toEqual([version - 1, version])
})

test('only applications that asked for addresses get them, sealed at rest and deleted once delivered', async () => {
  const { ctx, received, state } = await givenApplication({ includes: ['addresses'] })
  const user = await givenUser(ctx)
  state.status = 503
  const email = `secret-${user.email}`
  await givenVerifiedChange(ctx, user, email)
  // Only the change request and the account contain them.
  expect(await tablesWith(ctx, email)).toEqual(['email_change_requests', 'users'])
  expect(received.map(({ data }) => [data.old_email, data.new_email])).toEqual([
    [user.email, email],
    [user.email, email],
  ])
  expect(await ctx.db.eventDelivery.count({ where: { sealedData: { not: null } } })).toBe(2)
  state.status = 204
  await pass(ctx, 10_000)
  expect(await ctx.db.eventDelivery.count({ where: { sealedData: { not: null } } })).toBe(0)
  expect(received).toHaveLength(4)
  for (const event of received) expect(event).toEqual(received.find(({ id }) => id === event.id))
})

test('the event of a change in the admin API has the old and the new address as they were under the lock', async () => {
  const { ctx, received } = await givenApplication({ includes: ['addresses'] })
  const { userId, email } = await givenUser(ctx)
  await putUser(asService(ctx), { externalId: `ext ${userId}`, user_id: userId, email: `moved-${email}` })
  await ctx.settle()
  expect(received).toMatchObject([
    {
      type: 'account.email_changed',
      data: { subject: `ext ${userId}`, old_email: email, new_email: `moved-${email}` },
    },
  ])
})

test('once the connection is ended, its application is told nothing that it had not been told, also if it is connected anew', async () => {
  const { ctx, appId, received, state } = await givenApplication({ audience: 'connected' })
  const { userId, email } = await givenUser(ctx)
  const externalId = `ext ${userId}`
  const service = asService(ctx)
  await putUser(service, { externalId, user_id: userId })
  await putConnection(service, { externalId, appId, subject: 'reader 7' })
  state.status = 503
  await putUser(service, { externalId, email: `moved-${email}` })
  await ctx.settle()
  expect(received).toHaveLength(1)
  await removeConnection(service, { externalId, appId })
  await putConnection(service, { externalId, appId, subject: 'reader 8' })
  state.status = 204
  await pass(ctx, day)
  expect(received).toHaveLength(1)
  expect(await resendEvents(ctx, { appId, since: new Date(0) })).toBe(0)
})

test('the old address in an event is the one under the lock, even if it was replaced meanwhile', async () => {
  const { ctx, received } = await givenApplication({
    includes: ['addresses'],
    events: ['account.email_change_requested'],
  })
  const user = await givenUser(ctx)
  const caller = await asUser(ctx, user)
  await ctx.db.user.update({ where: { id: user.userId }, data: { email: user.email.toUpperCase() } })
  await changeEmail(caller, changeInput(user, `new-${user.email}`))
  await ctx.settle()
  expect(received).toMatchObject([{ data: { old_email: user.email.toUpperCase(), new_email: `new-${user.email}` } }])
})

test('whoever ends sessions or tokens beyond the own one sends an event, whether or not one was open', async () => {
  const { ctx, received } = await givenApplication({ events: ['account.sessions_ended'] })
  const user = await givenUser(ctx)
  const { userId } = user
  const caller = await asUser(ctx, user)
  const newToken = async () => (await givenToken(ctx, userId)).id
  await putUser(asService(ctx), { externalId: `ext ${userId}`, user_id: userId })
  const acts = [
    () => endOtherSessions(caller),
    async () => endSession(caller, { userId, sessionId: await givenSession(ctx, userId) }),
    async () => revokeAccessToken(caller, { userId, accessId: await newToken() }),
    async () => endSessionOf(ctx, await givenSession(ctx, userId)),
    async () => revokeTokenOf(ctx, await newToken()),
    () => revokeAllTokens(ctx, userId),
    () => endAllSessions(ctx, userId),
    () => endUserSessions(asService(ctx), { externalId: `ext ${userId}` }),
  ]
  for (const [index, act] of acts.entries()) {
    await act()
    await ctx.settle()
    expect(received, String(act)).toHaveLength(index + 1)
  }
  const versions = received.map(({ data }) => data.version)
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
  const again = await asUser(ctx, { ...user, sessionId: await givenSession(ctx, userId) })
  await endSession(again, { userId, sessionId: again.actor.id })
  await ctx.settle()
  expect(received).toHaveLength(acts.length)
})

test('a new password sends one event, whether the person changes or resets it or the operator sets it', async () => {
  const { ctx, received } = await givenApplication()
  const user = await givenUser(ctx)
  const { userId, password } = user
  const refused = { userId, current_password: 'wrong', new_password: 'first new password' }
  expect(await outcomeOf(changePassword(await asUser(ctx, user), refused))).toBe('EMAIL_007')
  await changePassword(await asUser(ctx, user), { ...refused, current_password: password })
  await ctx.settle()
  await resetPassword(ctx, user, 'second new password')
  await ctx.settle()
  await setPassword(ctx, { userId, password: 'third new password' })
  await ctx.settle()
  const { version } = await ctx.db.user.findUniqueOrThrow({ where: { id: userId } })
  expect(received.map(({ type, data }) => ({ type, data }))).toEqual(
    [version - 2, version - 1, version].map((version) => ({
      type: 'account.password_changed',
      data: { subject: userId, account: userId, version },
    })),
  )
})

test('an application for connected users gets only their events, with its own ids', async () => {
  const { ctx, appId, received } = await givenApplication({ audience: 'connected' })
  const [user, stranger] = [await givenUser(ctx), await givenUser(ctx)]
  await connectApp(ctx, { userId: user.userId, appId, subject: 'reader 7' })
  await givenVerifiedChange(ctx, stranger, `new-${stranger.email}`)
  await withdrawAs(ctx, stranger)
  await givenVerifiedChange(ctx, user, `new-${user.email}`)
  expect(received.map(({ data }) => data.subject)).toEqual(['reader 7', 'reader 7'])
})

test('no event is written if no application wants it, or only a disabled one', async () => {
  const { ctx, appId } = await givenApplication()
  await ctx.db.connectedApp.update({ where: { id: appId }, data: { disabledAt: ctx.clock.now() } })
  const user = await givenUser(ctx)
  await givenVerifiedChange(ctx, user, `new-${user.email}`)
  const { id: withdrawalId } = await withdrawAs(ctx, user)
  await runToTheEnd(ctx)
  expect(await ctx.db.event.count({ where: { OR: [{ userId: user.userId }, { withdrawalId }] } })).toBe(0)
})

test('a withdrawal sends events at its start, at its end and at the purge, each with a newer version', async () => {
  const { ctx, received } = await givenApplication()
  const user = await givenUser(ctx)
  await ctx.db.user.update({ where: { id: user.userId }, data: { externalId: `customer of ${user.userId}` } })
  const { id: withdrawalId } = await withdrawAs(ctx, user)
  await runToTheEnd(ctx)
  await pass(ctx, 30 * day)
  const data = { withdrawal_id: withdrawalId, subject: `customer of ${user.userId}` }
  expect(received).toMatchObject([
    { type: 'account.withdrawal_started', data },
    { type: 'account.withdrawal_completed', data },
    { type: 'account.purged', data },
  ])
  const versions = received.map((event) => event.data.version)
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
  expect(await tablesWith(ctx, user.userId)).toEqual([])
  expect((await withdrawalOf(ctx, withdrawalId)).sealedSubjects).toBeNull()
})

test('F37 an undelivered event outlives the account with its subject sealed, in the same bytes, and ends with the purge', async () => {
  const { ctx, received, state } = await givenApplication({ includes: ['addresses'] })
  const user = await givenUser(ctx)
  state.status = 503
  await givenVerifiedChange(ctx, user, `new-${user.email}`)
  await withdrawAs(ctx, user)
  await pass(ctx, hour)
  expect(await tablesWith(ctx, user.userId)).not.toContain('event_deliveries')
  expect(await ctx.db.event.count({ where: { userId: user.userId } })).toBe(0)
  const unnotified = received.splice(0)
  expect(unnotified.map(({ type }) => type)).toContain('account.email_changed')
  state.status = 204
  await pass(ctx, day)
  for (const event of unnotified) expect(received).toContainEqual(event)
  expect(await ctx.db.eventDelivery.count({ where: { status: { not: 'delivered' } } })).toBe(0)
  expect(await tablesWith(ctx, `new-${user.email}`)).toEqual([])
})
