import { expect, test } from 'vitest'
import { CONFIRMATION_LIFETIME_MS } from '../limits/durations'
import { planWithdrawal, retentionDays } from './schedule'

const hour = 3_600_000
const day = 24 * hour
const statutoryPeriod = { months: 1, days: 0 }
const start = new Date('2026-11-20T09:00:00.000Z')

test('every step has its promised times, and so have the end and the purge', () => {
  expect(planWithdrawal(start, { timeScale: 1, retentionMs: 30 * day, statutoryPeriod })).toEqual({
    steps: [
      {
        step: 'user_profile',
        dueAt: new Date('2026-11-20T09:05:00.000Z'),
        estimatedCompletion: new Date('2026-11-20T10:00:00.000Z'),
      },
      {
        step: 'session_revocation',
        dueAt: start,
        estimatedCompletion: new Date('2026-11-20T09:05:00.000Z'),
      },
      {
        step: 'third_party_integrations',
        dueAt: new Date('2026-11-20T10:00:00.000Z'),
        estimatedCompletion: new Date('2026-11-21T09:00:00.000Z'),
      },
      {
        step: 'data_archives',
        dueAt: new Date('2026-11-21T09:00:00.000Z'),
        estimatedCompletion: new Date('2026-11-27T09:00:00.000Z'),
      },
    ],
    scheduledCompletion: new Date('2026-11-27T09:00:00.000Z'),
    dueBy: new Date('2026-12-20T09:00:00.000Z'),
    purgeDueAt: new Date('2026-12-20T09:00:00.000Z'),
  })
})

test('the time scale shortens all times to whole milliseconds, but not the legal deadline', () => {
  const plan = planWithdrawal(start, { timeScale: 0.000_01, retentionMs: 30 * day, statutoryPeriod })
  const passed = (time: Date) => time.getTime() - start.getTime()
  expect(plan.steps.map(({ dueAt }) => passed(dueAt))).toEqual([3, 0, 36, 864])
  expect(plan.steps.map(({ estimatedCompletion }) => passed(estimatedCompletion))).toEqual([36, 3, 864, 6048])
  expect([passed(plan.scheduledCompletion), passed(plan.purgeDueAt)]).toEqual([6048, 25_920])
  expect(plan.dueBy).toEqual(new Date('2026-12-20T09:00:00.000Z'))
})

test('the retention is shown in whole days', () => {
  expect([30 * day, 1.4 * day, 1.6 * day, 10 * hour].map(retentionDays)).toEqual([30, 1, 2, 0])
})

test('the confirmation message expires after a day', () => {
  expect(CONFIRMATION_LIFETIME_MS).toBe(86_400_000)
})
