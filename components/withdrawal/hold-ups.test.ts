import { expect, test } from 'vitest'
import { type Application, isLate, plannedEndOf } from './hold-ups'
import type { WithdrawalStatus } from './withdrawal-status'

const PLANNED = '2026-11-21T09:00:00.000Z'
const LATER = '2026-11-27T09:00:00.000Z'
const at = Date.parse
const now = at('2026-11-22T00:00:00.000Z')
const soon = '2026-11-22T01:00:00.000Z'
const past = '2026-11-21T23:00:00.000Z'

const statusWith = (status: 'processing' | 'completed') =>
  ({
    scheduled_completion: LATER,
    deletion_steps: [
      {
        step: 'third_party_integrations',
        status,
        ...(status === 'completed' ? { completed_at: past } : { estimated_completion: PLANNED }),
      },
    ],
  }) as unknown as WithdrawalStatus

test('applications have time until their step is planned to end, or, where it has ended, until the whole deletion is', () => {
  expect(plannedEndOf(statusWith('processing'))).toBe(at(PLANNED))
  expect(plannedEndOf(statusWith('completed'))).toBe(at(LATER))
})

const waived = { reason: 'gone', at: past }

test.each<[string, Partial<Application>, boolean]>([
  ['that was asked in vain', { status: 'processing', next_attempt_at: soon }, true],
  ['that fetches its messages and never came', { status: 'pending', next_attempt_at: past }, true],
  ['that is disabled', { status: 'pending' }, true],
  ['that said that it deletes', { status: 'processing', accepted_at: past, next_attempt_at: soon }, true],
  ['whose own step begins later', { status: 'pending', next_attempt_at: soon }, false],
  ['that is done', { status: 'completed', completed_at: past }, false],
  ['that has not confirmed', { status: 'processing', absence: 'unconfirmed' }, false],
  ['that nobody waits for', { status: 'processing', waived }, false],
])('after the planned time an application %s is late or not', (_, application, expected) => {
  const shown = { name: 'Shop', ...application } as Application
  expect(isLate(shown, at(PLANNED), now)).toBe(expected)
  expect(isLate(shown, at(LATER), now)).toBe(false)
})
