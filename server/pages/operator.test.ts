import pino from 'pino'
import { beforeEach, expect, test, vi } from 'vitest'
import { setRole } from '@/domain/accounts/operators'
import { showApp } from '@/domain/applications/manage'
import { processState } from '@/server/process-state'
import {
  givenParticipant,
  givenSession,
  givenUser,
  givenWithdrawal,
  runDueWork,
  type TestContext,
  type TestUser,
  testContext,
} from '@/testing/domain'
import { installContext } from '@/testing/install-context'
import { getEnv } from '../settings/env'
import {
  lookUpAsOperator,
  manageAsOperator,
  retryAsOperator,
  retryTaskAsOperator,
  waiveTaskAsOperator,
} from './operator'

const signedIn = vi.hoisted(() => ({ sessionId: '' }))
// The cookie can be read only inside Next; the session that it names is checked as usual.
vi.mock('next-auth', () => ({ getServerSession: async () => (signedIn.sessionId ? signedIn : null) }))

processState.log = pino({ level: 'silent' })
const SAME_ORIGIN = { 'Sec-Fetch-Site': 'same-origin' }
let ctx: TestContext
let operator: TestUser
let withdrawalId: string

beforeEach(async () => {
  ctx = await testContext()
  installContext(ctx)
  operator = await givenUser(ctx)
  await setRole(ctx, { userId: operator.userId, role: 'operator' })
  signedIn.sessionId = operator.sessionId
  withdrawalId = (await givenWithdrawal(ctx)).withdrawalId
})

const retry = async (headers: Record<string, string> = SAME_ORIGIN, id = withdrawalId) => {
  const request = new Request(`http://localhost/admin/withdrawals/${id}/retry`, { method: 'POST', headers })
  return (await retryAsOperator(request, { params: Promise.resolve({ withdrawalId: id }) })).status
}
const audited = () => ctx.db.auditEvent.count({ where: { action: 'withdrawal.retried', subjectId: withdrawalId } })

test("an operator's retry is recorded in the audit log", async () => {
  expect(await retry()).toBe(200)
  expect(await retry({ Origin: getEnv().appUrl })).toBe(200)
  expect(await audited()).toBe(2)
  expect(await ctx.db.auditEvent.count({ where: { userId: operator.userId, action: 'withdrawal.retried' } })).toBe(2)
  expect(await retry(SAME_ORIGIN, 'wd_unknown')).toBe(404)
})

test('another user gets 404, and someone who is signed out gets 401', async () => {
  signedIn.sessionId = (await givenUser(ctx)).sessionId
  expect(await retry()).toBe(404)
  signedIn.sessionId = ''
  expect(await retry()).toBe(401)
  signedIn.sessionId = operator.sessionId
  await setRole(ctx, { userId: operator.userId, role: null })
  expect(await retry()).toBe(404)
  expect(await audited()).toBe(0)
})

test('a request from anywhere but a page of this service is refused, whatever the cookie', async () => {
  const elsewhere: Record<string, string>[] = [
    {},
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
    { 'Sec-Fetch-Site': 'cross-site', Origin: getEnv().appUrl },
    { Origin: 'https://elsewhere.test' },
    { Origin: 'null' },
    { Referer: `${getEnv().appUrl}/admin` },
  ]
  for (const headers of elsewhere) {
    expect({ headers, status: await retry(headers) }).toEqual({ headers, status: 403 })
  }
  expect(await audited()).toBe(0)
})

test("an operator's waiver of a task names a reason, is recorded, and comes from a page of this service", async () => {
  const { withdrawalId } = await givenWithdrawal(ctx, ['shop'])
  const { id } = await ctx.db.appNotification.findFirstOrThrow({ where: { withdrawalId } })
  const ask = async (what: string, headers: Record<string, string> = SAME_ORIGIN, taskId = id) => {
    const request = new Request(`http://localhost/admin/tasks/${taskId}/${what}`, { method: 'POST', headers })
    const work = what === 'retry' ? retryTaskAsOperator : waiveTaskAsOperator
    return (await work(request, { params: Promise.resolve({ taskId }) })).status
  }
  expect(await ask('waive?reason=gone', { 'Sec-Fetch-Site': 'cross-site' })).toBe(403)
  expect(await ask('waive?reason=tired')).toBe(400)
  expect(await ask('waive?reason=gone', SAME_ORIGIN, 'msg_none')).toBe(404)
  expect(await ask('retry')).toBe(200)
  expect(await ask('waive?reason=gone')).toBe(200)
  expect(await ask('waive?reason=other')).toBe(409)
  expect(await ask('retry')).toBe(409)
  expect(
    await ctx.db.auditEvent.count({ where: { userId: operator.userId, action: 'task.waived', subjectId: id } }),
  ).toBe(1)
  signedIn.sessionId = (await givenUser(ctx)).sessionId
  expect(await ask('waive?reason=gone')).toBe(404)
})

const managing =
  (appId: string) =>
  async (action: string, headers: Record<string, string> = SAME_ORIGIN) => {
    const request = new Request(`http://localhost/admin/apps/${appId}/${action}`, { method: 'POST', headers })
    const answer = await manageAsOperator(request, { params: Promise.resolve({ appId, action }) })
    return [answer.status, await answer.json()]
  }

test('an operator pings, rotates, disables and enables an application at its page, which is recorded', async () => {
  const appId = await givenParticipant(ctx, 'shop')
  const press = managing(appId)
  ctx.apps.answer = async () => ({ status: 418 })
  expect(await press('ping')).toEqual([200, expect.objectContaining({ app_id: appId, status: 418, problem: null })])
  const [status, rotated] = await press('rotate-secret')
  expect([status, rotated.signing_secret]).toEqual([200, expect.stringMatching(/^whsec_/)])
  expect((await showApp(ctx, appId)).previous_secret_until).toBe(rotated.previous_secret_until)
  expect(await press('disable')).toEqual([200, expect.objectContaining({ disabled_at: ctx.clock.now().toISOString() })])
  expect(await press('enable')).toEqual([200, expect.objectContaining({ disabled_at: null })])
  const audited = await ctx.db.auditEvent.findMany({ where: { subjectId: appId, userId: operator.userId } })
  expect(audited.map(({ action, actor }) => [action, actor]).sort()).toEqual([
    ['app.changed', 'operator'],
    ['app.changed', 'operator'],
    ['app.secret_rotated', 'operator'],
  ])
})

test('an operator sends the dead letters of an application again, and the page says how many', async () => {
  const appId = await givenParticipant(ctx, 'shop', { events: ['account.withdrawal_started'] })
  ctx.apps.answer = async () => ({ status: 503 })
  await givenWithdrawal(ctx)
  for (let days = 0; days < 8; days++) {
    ctx.clock.advance(24 * 3_600_000)
    await runDueWork(ctx)
  }
  expect(await showApp(ctx, appId)).toMatchObject({ deliveries: { waiting: 0, dead: 1 } })
  ctx.apps.answer = async () => ({ status: 204 })
  signedIn.sessionId = await givenSession(ctx, operator.userId)
  expect(await managing(appId)('resend')).toEqual([200, { resent: 1 }])
  await ctx.settle()
  expect(await showApp(ctx, appId)).toMatchObject({ deliveries: { waiting: 0, dead: 0 } })
  expect(await ctx.db.auditEvent.count({ where: { action: 'events.resent', userId: operator.userId } })).toBe(1)
  expect(await managing(appId)('resend')).toEqual([200, { resent: 0 }])
})

test('only an operator at the page manages an application, and no other action is known', async () => {
  const appId = await givenParticipant(ctx, 'shop')
  const press = managing(appId)
  for (const action of ['ping', 'rotate-secret', 'disable', 'enable', 'resend']) {
    expect(await press(action, { 'Sec-Fetch-Site': 'cross-site' })).toEqual([403, expect.anything()])
    expect(await managing('app_none')(action)).toEqual([404, { error: 'There is no application with this id.' }])
  }
  for (const action of ['remove', 'toString', '']) expect((await press(action))[0]).toBe(404)
  signedIn.sessionId = (await givenUser(ctx)).sessionId
  expect((await press('disable'))[0]).toBe(404)
  expect(await showApp(ctx, appId)).toMatchObject({ disabled_at: null, previous_secret_until: null })
})

test('an operator finds a person by an address, and a withdrawn one only by ids', async () => {
  const find = async (text: unknown, headers: Record<string, string> = SAME_ORIGIN) => {
    const body = JSON.stringify({ text })
    const answer = await lookUpAsOperator(
      new Request('http://localhost/admin/search', { method: 'POST', headers, body }),
    )
    return [answer.status, (await answer.json()).path]
  }
  const { userId, email } = await givenUser(ctx)
  expect(await find(` ${email} `)).toEqual([200, `/admin/users/${userId}`])
  expect(await find(withdrawalId)).toEqual([200, `/admin/withdrawals/${withdrawalId}`])
  const gone = await givenWithdrawal(ctx)
  expect(await find(gone.userId)).toEqual([200, `/admin/withdrawals/${gone.withdrawalId}`])
  expect((await find(gone.email))[0]).toBe(404)
  expect((await find(7))[0]).toBe(400)
  expect((await find('x'.repeat(321)))[0]).toBe(400)
  expect((await find(email, { 'Sec-Fetch-Site': 'cross-site' }))[0]).toBe(403)
  signedIn.sessionId = (await givenUser(ctx)).sessionId
  expect((await find(email))[0]).toBe(404)
})

test('an operator whose sign-in is old can look, and is sent to sign in again before anything changes', async () => {
  const appId = await givenParticipant(ctx, 'shop', { audience: 'connected' })
  const { withdrawalId: other } = await givenWithdrawal(ctx, ['bank'])
  const { id: taskId } = await ctx.db.appNotification.findFirstOrThrow({ where: { withdrawalId: other } })
  const at = (path: string) => new Request(`http://localhost/admin/${path}`, { method: 'POST', headers: SAME_ORIGIN })
  const acts = (): [string, Promise<Response>][] => [
    ['retry', retryAsOperator(at('x'), { params: Promise.resolve({ withdrawalId }) })],
    ['retry task', retryTaskAsOperator(at('x'), { params: Promise.resolve({ taskId }) })],
    ['waive', waiveTaskAsOperator(at('x?reason=gone'), { params: Promise.resolve({ taskId }) })],
    ...['ping', 'rotate-secret', 'disable', 'enable', 'resend'].map((action): [string, Promise<Response>] => [
      action,
      manageAsOperator(at('x'), { params: Promise.resolve({ appId, action }) }),
    ]),
  ]
  const before = await showApp(ctx, appId)
  const isRefused = async () => {
    for (const [what, act] of acts()) {
      const response = await act
      expect([what, response.status, await response.json()]).toEqual([
        what,
        401,
        { error: 'This needs a sign-in of the last ten minutes. Sign in again, then repeat it.', again: true },
      ])
    }
  }
  ctx.clock.advance(600_001)
  await isRefused()
  // A confirmation for something else is none for this.
  const { id } = await ctx.db.session.update({
    where: { id: operator.sessionId },
    data: { authenticatedAt: ctx.clock.now(), authenticatedFor: 'withdraw' },
  })
  await isRefused()
  expect(await showApp(ctx, appId)).toEqual(before)
  expect(await audited()).toBe(0)
  const look = new Request('http://localhost/admin/search', {
    method: 'POST',
    headers: SAME_ORIGIN,
    body: JSON.stringify({ text: operator.email }),
  })
  expect((await lookUpAsOperator(look)).status).toBe(200)
  await ctx.db.session.update({ where: { id }, data: { authenticatedFor: null } })
  for (const [what, act] of acts()) expect([what, (await act).status]).not.toEqual([what, 401])
})

test('a look-up of a person is noted with the operator and without what was asked for', async () => {
  const person = await givenUser(ctx)
  const look = (text: string) =>
    lookUpAsOperator(
      new Request('http://localhost/admin/search', {
        method: 'POST',
        headers: SAME_ORIGIN,
        body: JSON.stringify({ text }),
      }),
    )
  expect((await look(person.email)).status).toBe(200)
  expect((await look('nobody@example.test')).status).toBe(404)
  const noted = await ctx.db.auditEvent.findMany({ where: { action: 'account.looked_up', actorId: operator.userId } })
  expect(noted).toMatchObject([{ userId: person.userId, actor: 'operator', subjectId: null }])
  expect(JSON.stringify(noted)).not.toContain('@')
})
