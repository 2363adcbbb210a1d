import { expect, test } from 'vitest'
import { onceDatabaseAnswers } from './database-away'

test.for([
  ['timeout exceeded when trying to connect', 4, 5, undefined],
  ['timeout exceeded when trying to connect', 9, 5, 'timeout exceeded'],
  ['syntax error', 9, 1, 'syntax error'],
] as const)(
  'at the start a slow database is asked five times, and a wrong statement once (%s, %i times)',
  async ([message, failures, expected, refusal]) => {
    let calls = 0
    const asking = onceDatabaseAnswers(async () => {
      if (++calls <= failures) throw new Error(message)
      return 'there'
    })
    if (refusal) await expect(asking).rejects.toThrow(refusal)
    else expect(await asking).toBe('there')
    expect(calls).toBe(expected)
  },
)
