import { expect, test } from 'vitest'
import { previewWithdrawal, withdrawAccount } from '@/contract/withdrawal'
import { day, hour } from '../limits/durations'
import { planWithdrawal, retentionDays } from './schedule'

const settings = { limits: { withdrawalRetentionMs: 30 * day }, statutoryPeriod: { months: 1, days: 0 } }
const start = new Date('2026-11-20T09:00:00.000Z')

const example = previewWithdrawal.example.data

test('every step has its promised times, and so have the end and the purge', () => {
  expect(planWithdrawal({ timeScale: 1, ...settings }, start)).toEqual({
    steps: example.deletion_steps.map(({ step, begins_at, estimated_completion }) => ({
      step,
      dueAt: new Date(begins_at),
      estimatedCompletion: new Date(estimated_completion),
    })),
    scheduledCompletion: new Date(withdrawAccount.example.data.scheduled_completion),
    dueBy: new Date('2026-12-20T09:00:00.000Z'),
    purgeDueAt: new Date('2026-12-20T09:00:00.000Z'),
  })
})

test('the time scale shortens all times to whole milliseconds, but not the legal deadline', () => {
  const plan = planWithdrawal({ timeScale: 0.000_01, ...settings }, start)
  const passed = (time: Date) => time.getTime() - start.getTime()
  const [profile] = plan.steps
  expect(profile).toMatchObject({ step: 'user_profile' })
  expect([profile?.dueAt, profile?.estimatedCompletion, plan.purgeDueAt].map((at) => at && passed(at))).toEqual([
    3, 36, 25_920,
  ])
  for (const { dueAt, estimatedCompletion } of plan.steps) {
    expect([dueAt, estimatedCompletion].map(passed).every(Number.isInteger)).toBe(true)
    expect(passed(estimatedCompletion)).toBeLessThanOrEqual(passed(plan.scheduledCompletion))
  }
  expect(plan.dueBy).toEqual(new Date('2026-12-20T09:00:00.000Z'))
})

test('the retention is shown in whole days', () => {
  expect([30 * day, 1.4 * day, 1.6 * day, 10 * hour].map(retentionDays)).toEqual([30, 1, 2, 0])
})
