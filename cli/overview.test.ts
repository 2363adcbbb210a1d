import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { setApp } from '@/domain/applications/manage'
import { minute } from '@/domain/limits/durations'
import { getEnv } from '@/server/settings/env'
import { givenUser, pass, type TestContext, testContext } from '@/testing/domain'
import { atStatement } from '@/testing/statements'
import { noted } from '@/testing/stderr'
import { givenParticipant, givenWithdrawal } from '@/testing/withdrawals'
import { parseCall } from './command.ts'
import { COMMANDS } from './commands.ts'
import { execute } from './execute.ts'
import { showAnswer } from './show.ts'

let ctx: TestContext
beforeEach(async () => {
  ctx = await testContext()
  await ctx.db.$executeRaw`DELETE FROM withdrawals`
  await ctx.db.$executeRaw`DELETE FROM connected_apps`
  await ctx.db.$executeRaw`DELETE FROM notices`
  await ctx.db.user.updateMany({ data: { undeliverableAt: null } })
})

const ISO = /^\d{4}-\d\d-\d\dT/

const NOTHING = {
  away: [],
  figures: [],
  counts: [],
  failing_apps: [],
  failing_withdrawals: [],
  other_tasks: [],
  is_cut: false,
}

test('an overview of nothing that fails says so', async () => {
  const notes = noted()
  expect(await execute(ctx, ['overview'], null)).toEqual(NOTHING)
  expect(notes).toEqual([['Nothing is late, and nothing fails.\n']])
})

test('an overview says that the mail server does not answer', async () => {
  const { smtpUrl } = getEnv()
  Object.assign(getEnv(), { smtpUrl: 'smtp://127.0.0.1:9' })
  onTestFinished(() => void Object.assign(getEnv(), { smtpUrl }))
  const notes = noted()
  const away = ['The mail server does not answer, or refuses the sign-in: mails wait, and addresses cannot be changed.']
  expect(await execute(ctx, ['overview'], null)).toEqual({ ...NOTHING, away })
  expect(notes).toEqual([])
})

test('an overview shows the applications and the withdrawals that fail, and numbers that are not zero', async () => {
  const notes = noted()
  const shop = await givenParticipant(ctx, 'shop', { events: ['account.withdrawal_started'] })
  const mail = await givenParticipant(ctx, 'mail', {})
  ctx.apps.answer = async () => ({ status: 503 })
  ctx.archives.delete = () => Promise.reject(new Error('away'))
  await setApp(ctx, { appId: mail, disabled: true })
  const { withdrawalId } = await givenWithdrawal(ctx)
  for (let hours = 1; hours < 24; hours++) await pass(ctx, 60 * minute)
  await expect(pass(ctx, 60 * minute)).rejects.toThrow()
  const { userId } = await givenUser(ctx)
  await ctx.db.user.update({ where: { id: userId }, data: { undeliverableAt: ctx.clock.now() } })

  const counts = { waiting_events: 0, dead_events: 0 }
  const none = {
    problem: 'late, disabled',
    last_error: null,
    since: expect.stringMatching(ISO),
    late_since: expect.stringMatching(ISO),
    is_disabled: false,
    held_up: 0,
    withdrawal_ids: [],
    ...counts,
    waived_at: null,
  }
  expect(await execute(ctx, ['overview'], null)).toEqual({
    away: [],
    figures: [{ figure: 'undeliverable', count: 1, means: 'Addresses that take no mail' }],
    counts: [
      { figure: 'processing', count: 1, means: 'Deletions in progress' },
      { figure: 'waiting_deliveries', count: 1, means: 'Events waiting for apps' },
    ],
    failing_apps: [
      {
        ...none,
        app_id: shop,
        name: 'shop',
        problem: 'late, HTTP 503',
        last_error: 'HTTP 503',
        held_up: 1,
        withdrawal_ids: [expect.stringMatching(/^wd_/)],
        waiting_events: 1,
      },
      {
        ...none,
        app_id: mail,
        name: 'mail',
        is_disabled: true,
        held_up: 1,
        withdrawal_ids: [expect.stringMatching(/^wd_/)],
      },
    ],
    failing_withdrawals: [
      {
        step: 'third_party_integrations',
        problem: 'late, HTTP 503',
        late_since: expect.stringMatching(ISO),
        last_error: 'HTTP 503',
        waits_for: ['shop', 'mail'],
      },
      { step: 'data_archives', problem: 'Error', late_since: null, last_error: 'Error', waits_for: [] },
    ].map((step) => ({
      withdrawal_id: withdrawalId,
      due_by: expect.any(String),
      is_past_due: false,
      attempts: expect.any(Number),
      ...step,
    })),
    other_tasks: [],
    is_cut: false,
  })
  expect(notes).toEqual([])
  const call = parseCall(COMMANDS, ['overview'], { inBatch: false })
  const said = (await call.says?.((await call.run(ctx, null)) as object)) as object
  const lines = showAnswer(said, { now: ctx.clock.now(), width: 80, wide: false })
  expect(lines).toMatch(new RegExp(`^  See: withdrawal show ${withdrawalId}$`, 'm'))
  expect(lines).toMatch(/^1 +Deletions in progress +withdrawal list$/m)
})

test('an overview lists the deletions that wait for an application, and prints one command that shows them', async () => {
  const shop = await givenParticipant(ctx, 'shop', {})
  await setApp(ctx, { appId: shop, disabled: true })
  for (let number = 0; number < 2; number++) await givenWithdrawal(ctx)
  for (let hours = 0; hours < 24; hours++) await pass(ctx, 60 * minute)
  const call = parseCall(COMMANDS, ['overview'], { inBatch: false })
  const said = (await call.says?.((await call.run(ctx, null)) as object)) as object
  expect(showAnswer(said, { now: ctx.clock.now(), width: 80, wide: false })).toMatch(
    new RegExp(`^  Deletions: (wd_\\S{22},?\\s+){2}See: task list --app ${shop}$`, 'm'),
  )
})

test.each([
  ['failing-apps', []],
  ['count-failed-notices', [{ figure: 'failed_notices', count: null, means: 'Mails given up in the last 30 days' }]],
])('an overview fails where the database does not answer %s in time', async (name, figures) => {
  const notes = noted()
  const late = atStatement(ctx, name, () => Promise.reject(new Error('timeout')))
  const error = 'The database did not answer in time, so something may be missing here.'
  expect(await execute(late, ['overview'], null)).toEqual({ ...NOTHING, figures, error })
  expect(notes).toEqual([])
})
