import { expect, test } from 'vitest'
import { getEmailStatus, NOTHING_PENDING } from '@/contract/email'
import { pollMs } from './email-status'

const { data } = getEmailStatus.example
const pending = { ...data.pending_change, resend_available_at: new Date(Date.now() + 60_000).toISOString() }
const watched = (change: object, hasBounceReports = true, looksIdle = true) =>
  pollMs({ ...data, pending_change: { ...pending, ...change } }, hasBounceReports, looksIdle)

test('a message that comes back is seen within two seconds on the page that asked for it', () => {
  expect(watched({})).toBeLessThan(2_000)
})

test('the status is polled seldom if no bounce can be reported or the outcome is known, and more seldom if nothing is pending', () => {
  const seldom = [watched({}, false), watched({ delivery: 'undeliverable' }), watched({ delivery: 'delivered' })]
  const old = watched({ resend_available_at: new Date(Date.now() - 1).toISOString() })
  for (const ms of [...seldom, old]) expect(ms).toBeGreaterThan(2_500)
  expect(watched(NOTHING_PENDING)).toBeGreaterThan(10_000)
  expect(watched(NOTHING_PENDING, true, false)).toBe(false)
})
