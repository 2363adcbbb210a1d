import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Audited, expectNoBadTrace, problemsOf, problemsOfLedger, TRANSITION_KINDS } from '@/testing/traces'

/** `action subject actor`, of one account. */
const trace = (...rows: string[]): Audited[] =>
  rows.map((row) => {
    const [action = '', subject = null, actor = 'session'] = row.split(' ')
    return { account: 'usr_1', action, actor, subject }
  })

const GOOD = trace(
  'user.created - operator',
  'email_change.requested 1',
  'email_change.resent 1',
  'email.changed 1',
  'email_change.requested 2',
  'email_change.requested 3',
  'email.changed 3',
  'email.changed 4 service',
  'email.reverted 3 mailed_link',
  'email.reverted 1 mailed_link',
  'email_change.requested 5',
  'email_change.cancelled 5',
  'email_change.requested 6',
  'email.verified 6',
  'account.withdrawn 7',
  'withdrawal.retried 7 operator',
)

/** The rows that make the good trace a bad one, and the place at which they are inserted. */
const PLANTED: Record<string, { at: number; rows: string[] }> = {
  'a change that nobody asked for': { at: 1, rows: ['email.changed 9'] },
  'a superseded change that is verified': { at: 6, rows: ['email.changed 2'] },
  'a change that is verified twice': { at: 4, rows: ['email.changed 1'] },
  'an undo of what was undone': { at: 10, rows: ['email.reverted 3 mailed_link'] },
  'an undo of a change that an older undo has ended': { at: 10, rows: ['email.reverted 4 mailed_link'] },
  'a cancelled change that is verified': { at: 12, rows: ['email.changed 5'] },
  'a change that survives a new password': { at: 13, rows: ['password.changed'] },
  'a second withdrawal': { at: 15, rows: ['account.withdrawn 8'] },
  'a change after the withdrawal': { at: 15, rows: ['email_change.requested 8'] },
  'a kind that nobody knows': { at: 1, rows: ['email.guessed 1'] },
}

test('a trace of every kind of transition in a good order is accepted', () => {
  expect(problemsOf(GOOD)).toEqual([])
  expect(new Set(GOOD.map(({ action }) => action))).toEqual(
    new Set([...TRANSITION_KINDS, 'user.created', 'withdrawal.retried']),
  )
})

test.each(Object.entries(PLANTED))('the check of traces finds %s', (_what, { at, rows }) => {
  expect(problemsOf(GOOD.toSpliced(at, 0, ...trace(...rows)))).not.toEqual([])
})

test('a change that a test has written itself is left out, and the rest of its account is not', async () => {
  const check = (...rows: string[]) =>
    expectNoBadTrace({ dataDir: '', query: async <Row extends object>() => trace(...rows) as unknown as Row[] })
  await check('email.changed 9', 'email.reverted 9 mailed_link', 'email_change.requested 1', 'email.changed 1')
  await expect(check('email.changed 9', 'account.withdrawn 7', 'user.updated - operator')).rejects.toThrow()
})

test('the check of the ledger finds a line that is missing, changed, doubled or of no withdrawal', () => {
  const lines: string[] = []
  for (const withdrawalId of ['wd_1', 'wd_2', 'wd_3']) {
    const last = lines.at(-1)
    const prev = last === undefined ? '' : createHash('sha256').update(last).digest('base64url')
    lines.push(JSON.stringify({ seq: lines.length + 1, prev, withdrawalId }))
  }
  const all = new Set(['wd_1', 'wd_2', 'wd_3'])
  expect(problemsOfLedger(lines, all)).toEqual([])
  expect(problemsOfLedger(lines.toSpliced(1, 1), all)).not.toEqual([])
  expect(
    problemsOfLedger(lines.with(1, (lines[1] as string).replace('wd_2', 'wd_9')), new Set([...all, 'wd_9'])),
  ).not.toEqual([])
  expect(problemsOfLedger([...lines, lines[2] as string], all)).not.toEqual([])
  expect(problemsOfLedger(lines, new Set(['wd_1', 'wd_2']))).not.toEqual([])
})
