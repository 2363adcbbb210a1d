import { expect, test } from 'vitest'
import {
  type Described,
  identifier,
  integer,
  literal,
  orderedValues,
  type Placeholders,
  type Shape,
  type Sql,
  sql,
  statement,
  text,
  time,
} from './sql'

const RENAME = { userId: text, name: text, now: time } satisfies Shape
type Rename = Described<typeof RENAME>

const touched = (v: Placeholders<Pick<Rename, 'now'>>) => sql`touched_at = ${v.now}`
const rename = statement(
  'rename',
  RENAME,
  { id: text },
  (v) =>
    sql`UPDATE users SET name = ${v.name}, ${touched(v)} WHERE id = ${v.userId} AND created_at < ${v.now} RETURNING id`,
)

test('a value has one number wherever the text and its parts use it', () => {
  expect(rename.text).toBe('UPDATE users SET name = $1, touched_at = $2 WHERE id = $3 AND created_at < $2 RETURNING id')
  expect(rename.values).toEqual(['name', 'now', 'userId'])
})

test('a value that a part declares and does not use has no number', () => {
  const pick = statement('pick', RENAME, { name: text }, (v) => sql`SELECT ${v.name}::text AS name`)
  expect(pick).toMatchObject({ text: 'SELECT $1::text AS name', values: ['name'] })
})

test('values are passed in the order of their numbers, whatever order the call names them in', () => {
  const now = new Date()
  expect(orderedValues(rename, { userId: 'usr_1', now, name: 'Ada' })).toEqual(['Ada', now, 'usr_1'])
})

test('the compiler refuses a missing, a misnamed and a wrongly typed value, and a row that is read wrongly', async () => {
  const run: Sql = async () => []
  const now = new Date()
  const all = statement('all', {}, {}, () => sql`SELECT`)
  // @ts-expect-error: `now` is missing
  await run(rename, { userId: 'usr_1', name: 'Ada' })
  // @ts-expect-error: `user` is not a value of the statement
  await run(rename, { user: 'usr_1', name: 'Ada', now })
  // @ts-expect-error: `now` is a time
  await run(rename, { userId: 'usr_1', name: 'Ada', now: 'today' })
  const rows: { id: string }[] = await run(rename, { userId: 'usr_1', name: 'Ada', now })
  // @ts-expect-error: the row has no name
  const names = rows.map(({ name }) => name)
  expect([rows, names, await run(all, {})]).toEqual([[], [], []])
})

test('a text that a call brings does not compile inside a statement, and a name from a list is checked', () => {
  const given: string = "x'; DROP TABLE users; --"
  // @ts-expect-error: a plain text is no part
  sql`SELECT ${given}`
  // @ts-expect-error: only a constant is a literal
  literal(given)
  expect(() => identifier(given)).toThrow()
  expect([literal("it's"), sql`${identifier('user_id')} = ${3}`]).toEqual(["'it''s'", 'user_id = 3'])
})

test('a kind says what fits: null only where it may be, and every entry of a list', () => {
  const fits = [
    text.fits(''),
    text.fits(null),
    text.orNull.fits(null),
    integer.list.fits([1, 2]),
    integer.list.fits([1, null]),
  ]
  expect(fits).toEqual([true, false, true, true, false])
})
