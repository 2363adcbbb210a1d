import pino from 'pino'
import { beforeEach, expect, test, vi } from 'vitest'
import { setRole } from '@/domain/access/operators'
import { processState } from '@/server/process-state'
import { givenUser, givenWithdrawal, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { installContext } from '@/testing/process'
import { getEnv } from '../env'
import { retryAsOperator } from './operator'

const signedIn = vi.hoisted(() => ({ sessionId: '' }))
// The cookie can only be read inside Next; what it names is checked here as ever.
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
