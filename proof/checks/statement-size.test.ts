import { expect, test, vi } from 'vitest'
import '@/server/local/demo-account'
import '@/server/adapters/clock'
import '@/server/watch/health'
import { STATEMENTS } from '@/testing/statements'

vi.mock('@/domain/sql', async (importOriginal) =>
  (await import('@/testing/statements')).notingStatements(importOriginal),
)

import.meta.glob(['../../domain/**/*.ts', '!**/*.test.ts'], { eager: true })

const [MAX_LINES, MAX_VALUES, MAX_LINE_LENGTH] = [25, 12, 140]

const EXCEPTIONS = {
  'change-app': { values: 14 },
  'claim-resend': { lines: 28 },
  'mark-app-told': { lines: 28 },
  'register-app': { values: 16 },
}

/** Put together from the deletion map, with a line for each table or column. */
const MADE_OF_LISTS = ['erase-data_archives', 'erase-user_profile', 'preview-withdrawal']

/** As many lines as an editor needs to show it. */
const linesOf = (text: string) =>
  text.split('\n').reduce((lines, line) => lines + Math.max(1, Math.ceil(line.length / MAX_LINE_LENGTH)), 0)

test('a statement has at most 25 lines and 12 values, but for the few that decision 0002 names', () => {
  const written = [...STATEMENTS.values()].filter(({ name }) => !MADE_OF_LISTS.includes(name))
  const tooLarge = written.flatMap(({ name, text, values }) => {
    const lines = linesOf(text)
    const size = { ...(lines > MAX_LINES && { lines }), ...(values.length > MAX_VALUES && { values: values.length }) }
    return Object.keys(size).length > 0 ? [[name, size] as const] : []
  })
  expect(
    Object.fromEntries(tooLarge),
    'Let the statement do one thing, in a transaction with others. If it is worth more lines, say in decision 0002 what they bring.',
  ).toEqual(EXCEPTIONS)
})
