import { expect, onTestFinished, test } from 'vitest'
import { setDatabase } from '@/testing/database'
import { testDatabase } from '@/testing/domain'
import { rawSql } from '@/testing/raw-sql'
import { openDatabase } from './database'

/** Settings that a database may have, none of which suits the service. */
const STRANGE = {
  timezone: 'America/New_York',
  datestyle: 'SQL, DMY',
  synchronous_commit: 'off',
  default_transaction_isolation: 'serializable',
  plan_cache_mode: 'force_custom_plan',
  statement_timeout: '1h',
  jit: 'on',
}

async function givenStrangeDatabase(options: string) {
  const { url } = await testDatabase()
  onTestFinished(await setDatabase(url, STRANGE))
  const database = openDatabase(`${url}?options=${encodeURIComponent(options)}`, 6)
  onTestFinished(() => database.close())
  return database
}

test("B7 every connection has the service's settings before its first statement, whatever server and URL say", async () => {
  const database = await givenStrangeDatabase('-csearch_path=public -ctimezone=America/New_York')
  let waiting = 6
  let letGo = () => {}
  const all = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const rows = await Promise.all(
    Array.from({ length: waiting }, () =>
      database.transact(async (sql) => {
        const columns = [...Object.keys(STRANGE), 'search_path'].map((name) => `current_setting('${name}') AS ${name}`)
        const [row] = await rawSql(sql, `SELECT ${columns.join(', ')}`)
        // Each caller keeps its connection until all have one.
        if (--waiting === 0) letGo()
        await all
        return row
      }),
    ),
  )
  expect(rows).toEqual(
    rows.map(() => ({
      timezone: 'UTC',
      datestyle: 'ISO, MDY',
      synchronous_commit: 'on',
      default_transaction_isolation: 'read committed',
      plan_cache_mode: 'force_generic_plan',
      statement_timeout: '4s',
      jit: 'off',
      search_path: 'public',
    })),
  )
  expect(rows).toHaveLength(6)
  // Prisma writes times without an offset, on the same connections.
  expect(await database.db.$queryRaw`SHOW TimeZone`).toEqual([{ TimeZone: 'UTC' }])
})
