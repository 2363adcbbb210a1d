import { expect, test } from 'vitest'
import { orderedValues, type Placeholders, type Sql, statement } from './sql'

interface Rename {
  userId: string
  name: string
  now: Date
}

const touched = (v: Placeholders<Pick<Rename, 'now'>>) => `touched_at = ${v.now}`
const rename = statement<Rename, { id: string }>(
  'rename',
  (v) =>
    `UPDATE users SET name = ${v.name}, ${touched(v)} WHERE id = ${v.userId} AND created_at < ${v.now} RETURNING id`,
)

test('a value has one number wherever the text and its parts use it', () => {
  expect(rename.text).toBe('UPDATE users SET name = $1, touched_at = $2 WHERE id = $3 AND created_at < $2 RETURNING id')
  expect(rename.values).toEqual(['name', 'now', 'userId'])
})

test('a value that a part declares and does not use has no number', () => {
  const pick = (v: Placeholders<Rename>) => [v.now, v.name][1]
  expect(statement<Rename>('pick', (v) => `SELECT ${pick(v)}::text`)).toMatchObject({
    text: 'SELECT $1::text',
    values: ['name'],
  })
})

test('values are passed in the order of their numbers, whatever order the call names them in', () => {
  const now = new Date()
  expect(orderedValues(rename, { userId: 'usr_1', now, name: 'Ada' })).toEqual(['Ada', now, 'usr_1'])
})

test('the compiler refuses a missing, a misnamed and a wrongly typed value', async () => {
  const sql: Sql = async () => []
  const now = new Date()
  const all = statement('all', () => 'SELECT')
  // @ts-expect-error: `now` is missing
  await sql(rename, { userId: 'usr_1', name: 'Ada' })
  // @ts-expect-error: `user` is not a value of the statement
  await sql(rename, { user: 'usr_1', name: 'Ada', now })
  // @ts-expect-error: `now` is a time
  await sql(rename, { userId: 'usr_1', name: 'Ada', now: 'today' })
  // @ts-expect-error: the statement has no values
  await sql(all, { userId: 'usr_1' })
  const rows: { id: string }[] = await sql(rename, { userId: 'usr_1', name: 'Ada', now })
  expect([rows, await sql(all, {})]).toEqual([[], []])
})
