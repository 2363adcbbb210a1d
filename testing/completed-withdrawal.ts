import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'vitest'
import type { Answer, Instance } from '@/testing/instance'
import { LATER_STEPS } from '@/testing/later-steps'
import { givenPerson, type Person, withdraw } from '@/testing/person'
import { expectNoBadTrace } from '@/testing/traces'
import { answered, until } from '@/testing/until'
import { isMarked, type World } from '@/testing/world'

export interface StartedWithdrawal {
  person: Person
  withdrawalId: string
}

/** The instance accepts the withdrawal of this person, who asks again where it was too busy to answer. */
export async function startWithdrawal(instance: Instance, person: Person): Promise<StartedWithdrawal> {
  const key = { 'Idempotency-Key': `withdraw-${person.mark}` }
  const { status, body } = await answered(() => withdraw(instance, person, key))
  expect(status, JSON.stringify(body)).toBe(202)
  return { person, withdrawalId: body.data.withdrawal_id }
}

/** A person with data in every table, whose withdrawal the instance accepts. */
export const givenStartedWithdrawal = async (world: World, instance: Instance): Promise<StartedWithdrawal> =>
  startWithdrawal(instance, await givenPerson(world, instance))

/** Every withdrawal ends like this, whatever fault it has met. */
export async function expectPurged(world: World, { person, withdrawalId }: StartedWithdrawal) {
  await until(`${withdrawalId} is completed`, () => isMarked(world, withdrawalId, 'completed_at')).catch(
    async (error) => {
      const open = await world.query(`SELECT * FROM deletion_steps WHERE withdrawal_id = $1`, [withdrawalId])
      throw new Error(`${error.message}: ${JSON.stringify(open)}`)
    },
  )

  const notes = await world.query<{ step: string; what: string }>(
    'SELECT step, what FROM completions.notes WHERE withdrawal_id = $1 ORDER BY step',
    [withdrawalId],
  )
  expect(notes).toEqual(LATER_STEPS.toSorted().map((step) => ({ step, what: 'completed' })))
  for (const application of world.applications) {
    const calls = application.of(withdrawalId)
    expect([...new Set(calls.map(({ id }) => id))], `ids at ${application.name}`).toHaveLength(1)
    for (const { body } of calls) {
      expect(JSON.parse(body)).toEqual({
        type: 'account.withdrawn',
        timestamp: expect.any(String),
        data: { withdrawal_id: withdrawalId, subject: `subject-${person.mark}`, account: person.id },
      })
    }
  }
  // The purge may have come already; the feedback is all that may still be there.
  const left = await placesOf(world, [person.mark, person.token])
  expect(left.filter((place) => place !== 'table withdrawals')).toEqual([])

  await until(`${withdrawalId} is purged`, () => isMarked(world, withdrawalId, 'purged_at'))
  expect(await placesOf(world, [person.mark, person.token])).toEqual([])
  expect(await tablesWith(world, person.id)).toEqual([])
  expect(await tablesWith(world, withdrawalId)).toEqual(expect.arrayContaining(['deletion_steps', 'withdrawals']))
  expect(await world.query('SELECT FROM retained_records WHERE withdrawal_id = $1', [withdrawalId])).toEqual([])
  // Other accounts still have archives. Nothing would ever delete a file that no row names.
  const archives = await readdir(path.join(world.dataDir, 'archives'))
  const named = await world.query<{ object_key: string }>('SELECT object_key FROM archives')
  expect(named.map(({ object_key }) => object_key)).toEqual(expect.arrayContaining(archives))
  await expectNoBadTrace(world)
}

/** The answer of a service whose database or store is away. */
export function expectUnavailable({ status, body, headers, ms }: Answer, withinMs = 5_000) {
  expect([status, body.error?.code]).toEqual([503, 'SERVER_002'])
  expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
  expect(ms).toBeLessThan(withinMs)
}

/**
 * Returns the tables, files and logs that hold one of the texts. Mails may hold them, also in the local mailbox, which keeps them
 * for ten minutes after a deletion. Applications may keep their own id of the person.
 */
export async function placesOf(world: World, texts: string[]): Promise<string[]> {
  const places = new Set<string>()
  for (const text of texts) {
    for (const table of await tablesWith(world, text)) places.add(`table ${table}`)
    for (const file of await filesBelow(world.dataDir)) {
      if (file.endsWith('.deleted.json')) continue
      if (holds(await readIfThere(file), text)) places.add(`file ${path.relative(world.dataDir, file)}`)
    }
    for (const file of world.postgresLogs) if (holds(await readFile(file), text)) places.add('log of PostgreSQL')
    for (const { output } of world.instances) if (output.includes(text)) places.add('log of an instance')
  }
  return [...places].sort()
}

const holds = (content: Buffer, text: string) =>
  [text, Buffer.from(text).toString('hex')].some((form) => content.includes(form))

/** A file that is erased between the listing and the reading counts as empty. */
const readIfThere = (file: string): Promise<Buffer> =>
  readFile(file).catch((error) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0)
    throw error
  })

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
}

/** Finds the text also in columns of bytes, which JSON shows in hexadecimal. */
async function tablesWith(world: World, text: string): Promise<string[]> {
  const tables = await world.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await world.query(
      `SELECT FROM ${name} t WHERE to_jsonb(t)::text LIKE '%' || $1 || '%' OR to_jsonb(t)::text LIKE '%' || $2 || '%' LIMIT 1`,
      [text, Buffer.from(text).toString('hex')],
    )
    if (rows.length > 0) found.push(name)
  }
  return found
}
