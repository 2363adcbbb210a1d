import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withdrawAccount as contract, previewWithdrawal, STEPS } from '@/contract/withdrawal'
import { NOTICE_KINDS } from '@/domain/notices'
import { givenPendingChange, givenVerifiedChange } from '@/testing/account'
import {
  asService,
  asUser,
  givenSession,
  givenUser,
  pass,
  runDueWork,
  type TestContext,
  type TestUser,
  testContext,
} from '@/testing/domain'
import { TABLES_WITH_TEXTS } from '@/testing/later-steps'
import { outcomeOf, tablesWith, tally } from '@/testing/outcomes'
import { givenRows, oneIn } from '@/testing/rows'
import { givenConnectedApps, readProgress, withdrawAs, withdrawalOf } from '@/testing/withdrawals'
import { createUser } from '../accounts/user'
import { writeArchive } from '../applications/archives'
import type { Context } from '../context'
import { day, hour, minute } from '../limits/durations'
import { sendDueNotices } from '../mail/notice-queue'
import { getWithdrawalStatus } from './get-withdrawal-status'
import { withdrawAccount, withdrawByOperator, withdrawUser } from './withdraw-account'

const confirmation = 'DELETE_MY_ACCOUNT'
/** What the examples of the API promise for a withdrawal that starts with the test's clock. */
const PROMISED = previewWithdrawal.example.data.deletion_steps.map(({ step, begins_at }) => {
  const answered = contract.example.data.deletion_steps.find((one) => one.step === step)
  return { step, begins_at, status: answered?.status }
})

let ctx: TestContext
let user: TestUser

const withdraw = async (choices: object = {}, of = user) =>
  withdrawAccount(await asUser(ctx, of), { userId: of.userId, confirmation, ...choices })

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
})

// The tests share a database, and what one leaves in the background would take the events of the next.
afterEach(() => ctx.settle())

test('a withdrawal answers with its steps, stores them and what the person said and chose, and ends the session', async () => {
  const started = await withdraw({
    reason: 'other',
    feedback: 'too many messages',
    data_retention: { audit_logs: true },
  })
  expect(started).toMatchObject({
    withdrawal_id: expect.stringMatching(/^wd_[A-Za-z0-9_-]{22}$/),
    status: 'processing',
    scheduled_completion: contract.example.data.scheduled_completion,
    data_retention_period: 30,
    deletion_steps: contract.example.data.deletion_steps,
  })
  await expect(asUser(ctx, user)).rejects.toThrow('the session has ended')
  const at = ctx.clock.now()
  expect(await withdrawalOf(ctx, started.withdrawal_id)).toMatchObject({
    userId: user.userId,
    reason: 'other',
    feedback: 'too many messages',
    keepAnalytics: false,
    keepAuditLogs: true,
    keepTransactionHistory: false,
    startedAt: at,
    scheduledCompletion: new Date(contract.example.data.scheduled_completion),
    purgeDueAt: new Date('2026-12-20T09:00:00.000Z'),
    completedAt: null,
  })
  const steps = await ctx.db.deletionStep.findMany({
    where: { withdrawalId: started.withdrawal_id },
    select: { step: true, status: true, dueAt: true, completedAt: true },
  })
  expect(new Set(steps)).toEqual(
    new Set(
      PROMISED.map(({ step, status, begins_at }) =>
        status === 'completed'
          ? { step, status, dueAt: null, completedAt: at }
          : { step, status, dueAt: new Date(begins_at), completedAt: null },
      ),
    ),
  )
  const where = { userId: user.userId, at }
  expect(await ctx.db.auditEvent.findMany({ where: { ...where, action: 'account.withdrawn' } })).toMatchObject([
    { id: expect.stringMatching(/^aud_.{22}$/), actor: 'session', subjectId: started.withdrawal_id, ip: '192.0.2.1' },
  ])
  expect(await ctx.db.legalRecord.findMany({ where })).toMatchObject([
    { id: expect.stringMatching(/^lgl_.{22}$/), kind: 'withdrawal_requested', details: started.withdrawal_id },
  ])
})

test('a withdrawal without reason and choices stores no reason and keeps nothing', async () => {
  const { withdrawal_id: id } = await withdraw()
  expect(await withdrawalOf(ctx, id)).toMatchObject({
    reason: null,
    feedback: null,
    keepAnalytics: false,
    keepAuditLogs: false,
    keepTransactionHistory: false,
  })
})

test('a call for an account that is already withdrawn counts in the limit too', async () => {
  const caller = await asUser(ctx, user)
  const { withdrawal_id: id } = await withdraw()
  const withdrawn = { ...caller, actor: { ...caller.actor, withdrawal: { id, madeTheCall: true } } }
  const call = () => outcomeOf(withdrawAccount(withdrawn, { userId: user.userId, confirmation }))
  const outcomes: string[] = []
  for (let n = 0; n < 5; n++) outcomes.push(await call())
  expect(tally(outcomes)).toEqual({ WITHDRAWAL_002: 4, RATE_001: 1 })
})

test('a session older than ten minutes withdraws nothing, and an access token of any age does', async () => {
  ctx.clock.advance(10 * minute + 1)
  const caller = await asUser(ctx, user)
  expect(await outcomeOf(withdraw())).toBe('REAUTH_001')
  const token = { ...caller, actor: { ...caller.actor, kind: 'access_token' as const, authenticatedAt: undefined } }
  expect(await outcomeOf(withdrawAccount(token, { userId: user.userId, confirmation }))).toBe('accepted')
})

test('a withdrawal stores the hash of its outside token, which then reads the progress and nothing else', async () => {
  const caller = await asUser(ctx, user)
  const [issuedAt, expiresAt] = [ctx.clock.now(), new Date(ctx.clock.now().getTime() + hour)]
  const rowless = { hash: randomBytes(32), expiresAt, issuedAt, authenticatedAt: null, acr: null }
  const actor = { ...caller.actor, kind: 'outside_token', id: '', scopes: ['account:manage'], rowless } as const
  const { withdrawal_id } = await withdrawAccount({ ...caller, actor }, { userId: user.userId, confirmation })
  const ended = await ctx.db.endedCredential.findMany({ where: { withdrawalId: withdrawal_id } })
  expect(ended).toHaveLength(2)
  const remembered = ended.find(({ credentialHash }) => rowless.hash.equals(credentialHash))
  expect(remembered).toMatchObject({
    userId: user.userId,
    scopes: ['account:manage'],
    madeTheCall: true,
    expiresAt: rowless.expiresAt,
  })
  expect(ended.find((credential) => credential !== remembered)).toMatchObject({ madeTheCall: false })
})

test('F13 L16 the steps end at their times though the engine loses the event, and the withdrawal ends with the last of them', async () => {
  const { withdrawal_id } = await withdraw()
  const progress = () => readProgress(ctx, user.userId, withdrawal_id)
  const stateOf = async (name: string) => (await progress()).deletion_steps.find(({ step }) => step === name)?.status
  await ctx.settle()
  expect(ctx.engine.events).toHaveLength(1)
  for (const { step, status, begins_at } of PROMISED.toSorted((a, b) => a.begins_at.localeCompare(b.begins_at))) {
    if (status === 'completed') continue
    const untilThen = Date.parse(begins_at) - ctx.clock.now().getTime()
    // Two steps may become due together.
    if (untilThen > 0) {
      await pass(ctx, untilThen - 1)
      expect(await stateOf(step)).toBe(status)
      expect(await progress()).not.toHaveProperty('completed_at')
      await pass(ctx, 1)
    }
    expect(await stateOf(step)).toBe('completed')
  }
  expect(await progress()).toMatchObject({ status: 'completed', completed_at: expect.any(String) })
})

test('B5 L6 100 parallel calls make one withdrawal', async () => {
  ctx.limits.withdraw = { places: 100, windowMs: hour }
  const caller = await asUser(ctx, user)
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, () => outcomeOf(withdrawAccount(caller, { userId: user.userId, confirmation }))),
  )
  expect(tally(outcomes)).toEqual({ accepted: 1, WITHDRAWAL_002: 99 })
  expect(await ctx.db.withdrawal.count({ where: { userId: user.userId } })).toBe(1)
  expect(await ctx.db.deletionStep.count({ where: { withdrawal: { userId: user.userId } } })).toBe(STEPS.length)
})

test('B31 the address is free at once, and a new account with it sees nothing of the old one', async () => {
  const started = await withdraw()
  const userId = await createUser(ctx, { email: user.email, password: user.password, name: 'New', emailVerified: true })
  const again = { ...user, userId, sessionId: await givenSession(ctx, userId) }
  const context: Context = await asUser(ctx, again)
  const path = { userId, withdrawalId: started.withdrawal_id }
  expect(await outcomeOf(getWithdrawalStatus(context, path))).toBe('WITHDRAWAL_004')
})

test('B110 the letter to a replaced address says too who asked, at the first attempt and later', async () => {
  for (const [way, begin] of [
    ['settings', withdraw],
    [
      'service',
      async () => {
        const externalId = user.userId.slice(4)
        await ctx.db.user.update({ where: { id: user.userId }, data: { externalId } })
        await withdrawUser(asService(ctx), { confirmation, requested_by: 'support', externalId })
      },
    ],
    ['support', () => withdrawByOperator(ctx, { userId: user.userId, confirmation })],
  ] as const) {
    for (const accepts of [true, false]) {
      ctx = await testContext()
      user = await givenUser(ctx)
      await givenVerifiedChange(ctx, user)
      ctx.mailServer.accepts = accepts
      await begin()
      await ctx.settle()
      ctx.mailServer.accepts = true
      ctx.clock.advance(hour)
      await sendDueNotices(ctx, NOTICE_KINDS)
      const letters = ctx.mailbox.filter(({ message }) => message.template.startsWith('account-withdrawal'))
      expect(letters.map(({ to }) => to).toSorted()).toEqual([user.email, `new-${user.email}`].toSorted())
      for (const { message } of letters) expect(message).toMatchObject({ way })
    }
  }
})

test('the confirmation goes to the address at once, with a link that holds the status token', async () => {
  const started = await withdraw()
  await ctx.settle()
  expect(ctx.mailbox.at(-1)).toEqual({
    id: expect.stringMatching(/^ntc_[A-Za-z0-9_-]{22}$/),
    to: user.email,
    locale: null,
    message: {
      template: 'account-withdrawal-started',
      way: 'settings',
      userName: 'Ada Lovelace',
      requestedAt: ctx.clock.now(),
      progressUrl: `https://accounts.test/withdrawal/${started.withdrawal_id}#token=${started.status_token}`,
      scheduledCompletion: new Date('2026-11-27T09:00:00.000Z'),
      kept: { chosen: [], days: 30, until: new Date('2026-12-20T09:00:00.000Z') },
      receipt: started.receipt,
    },
  })
  expect(await ctx.db.notice.findFirstOrThrow({ where: { withdrawalId: started.withdrawal_id } })).toMatchObject({
    id: ctx.mailbox.at(-1)?.id,
    sentAt: ctx.clock.now(),
    expiresAt: new Date('2026-11-21T09:00:00.000Z'),
  })
})

test('a confirmation that the mail server does not accept waits sealed for a day, and is then deleted; the withdrawal completes', async () => {
  ctx.mailServer.accepts = false
  const { withdrawal_id } = await withdraw()
  await pass(ctx, hour)
  const waiting = await ctx.db.notice.findFirstOrThrow({ where: { withdrawalId: withdrawal_id } })
  expect(waiting.sealed).not.toBeNull()
  expect(Buffer.from(waiting.sealed ?? []).toString('latin1')).not.toContain(user.email)
  const sealed = () => ctx.db.notice.count({ where: { withdrawalId: withdrawal_id, sealed: { not: null } } })
  await pass(ctx, 23 * hour - 1)
  expect(await sealed()).toBe(1)
  await pass(ctx, 1)
  expect(await sealed()).toBe(0)
  ctx.mailServer.accepts = true
  await pass(ctx, minute)
  expect(ctx.mailbox.filter(({ to }) => to === user.email)).toEqual([])
  expect(await ctx.db.withdrawal.count({ where: { id: withdrawal_id, completedAt: { not: null } } })).toBe(1)
})

test('without an engine no outbox event is written, and old ones are marked as sent', async () => {
  const [before, after] = [await givenUser(ctx), await givenUser(ctx)]
  ctx.engine.accepts = false
  const { withdrawal_id } = await withdraw({}, before)
  await ctx.settle()
  const alone = { ...ctx, emit: null }
  const { withdrawal_id: unnotified } = await withdrawAs(alone, after)
  ctx.clock.advance(minute)
  await runDueWork(alone)
  const events = await ctx.db.outboxEvent.findMany({
    where: { id: { in: [`evt_${withdrawal_id}`, `evt_${unnotified}`] } },
  })
  expect(events).toMatchObject([{ id: `evt_${withdrawal_id}`, dueAt: null }])
})

/** Puts a random mark into every personal field, so that a search of all tables finds where it remains. */
async function givenMarkedUser(ctx: TestContext) {
  const mark = `canary${randomBytes(8).toString('hex')}`
  const user = await givenUser(ctx, `${mark}@example.test`)
  const { userId } = user
  await ctx.db.user.update({ where: { id: userId }, data: { name: `${mark} name` } })
  await givenConnectedApps(ctx, user, [`app-${randomBytes(4).toString('hex')}`])
  const rows = oneIn(TABLES_WITH_TEXTS.filter((table) => !['users', 'app_connections'].includes(table)))
  await givenRows(ctx, userId, rows, mark)
  await givenPendingChange(ctx, user, `new-${mark}@example.test`)
  await writeArchive(ctx, userId)
  return { user, mark }
}

test('B32 nothing of the person stays where it must not, and nothing at all after the purge', async () => {
  const { user, mark } = await givenMarkedUser(ctx)
  expect(await tablesWith(ctx, mark)).toEqual(expect.arrayContaining(TABLES_WITH_TEXTS))
  const started = await withdraw({ reason: 'other', feedback: mark }, user)
  expect(ctx.archived.size).toBe(1)

  for (const wait of [5 * minute, hour, day]) await pass(ctx, wait)
  expect(await tablesWith(ctx, mark)).toEqual(['withdrawals'])
  expect(ctx.archived.size).toBe(0)
  expect(await ctx.db.archiveKey.count({ where: { userId: user.userId } })).toBe(0)
  const kept = await ctx.db.retainedRecord.findMany({ where: { withdrawalId: started.withdrawal_id } })
  expect([...new Set(kept.map(({ source }) => source))].sort()).toEqual([
    'legal_records',
    'security_incidents',
    'transaction_audit_logs',
  ])
  expect(await tablesWith(ctx, user.userId)).toEqual(['ended_credentials', 'withdrawals'])

  await pass(ctx, 29 * day)
  expect(await tablesWith(ctx, mark)).toEqual([])
  expect(await tablesWith(ctx, user.userId)).toEqual([])
  expect(await tablesWith(ctx, kept[0]?.pseudonym as string)).toEqual([])
  expect(await tablesWith(ctx, started.withdrawal_id)).toEqual(['deletion_steps', 'withdrawal_receipts', 'withdrawals'])
})

test('the status shows from the start what the person chose to keep', async () => {
  for (const [choices, kept] of [
    [{}, []],
    [{ transaction_history: true }, ['transaction_history']],
    [{ audit_logs: true, analytics: true }, ['analytics', 'audit_logs']],
  ] as const) {
    const user = await givenUser(ctx)
    const { withdrawal_id } = await withdraw({ data_retention: choices }, user)
    expect((await readProgress(ctx, user.userId, withdrawal_id)).kept_by_choice).toEqual(kept)
  }
})

test('records that the person asks to keep stay thirty days under the pseudonym, without naming the person', async () => {
  const { user, mark } = await givenMarkedUser(ctx)
  const choices = { analytics: true, audit_logs: true, transaction_history: true }
  const { withdrawal_id } = await withdraw({ data_retention: choices }, user)
  for (const wait of [5 * minute, 2 * day]) await pass(ctx, wait)
  const sources = async () => {
    const rows = await ctx.db.retainedRecord.findMany({ where: { withdrawalId: withdrawal_id } })
    return [...new Set(rows.map(({ source }) => source))].sort()
  }
  expect(await sources()).toEqual([
    'analytics_events',
    'audit_events',
    'communication_logs',
    'integration_logs',
    'legal_records',
    'mail_deliveries',
    'security_incidents',
    'transaction_audit_logs',
    'transactions',
  ])
  expect(await tablesWith(ctx, mark)).toEqual([])
  await pass(ctx, 28 * day)
  expect(await sources()).toEqual([])
})
