import { expect, test } from 'vitest'
import { testContext } from '@/testing/domain'
import { DELETION_MAP, TABLES_WITHOUT_ERASURE } from './deletion-map'

test('every table stands in the deletion map, or is named as holding no data of a user', async () => {
  const ctx = await testContext()
  const tables = await ctx.db.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_name <> '_prisma_migrations'`
  const known = new Set([...DELETION_MAP.map(({ table }) => table), ...Object.keys(TABLES_WITHOUT_ERASURE)])
  expect(tables.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([])
})

test('no table with a user id is excused from the map, but for the withdrawal itself', async () => {
  const ctx = await testContext()
  const tables = await ctx.db.$queryRaw<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'user_id'`
  const excused = tables.map(({ name }) => name).filter((name) => name in TABLES_WITHOUT_ERASURE)
  expect(excused).toEqual(['withdrawals'])
})

test('no column that can hold an address, a name or an IP is kept', () => {
  const kept = DELETION_MAP.flatMap(({ table, kept }) => (kept?.facts ?? []).map((column) => `${table}.${column}`))
  expect(
    kept.filter((column) => /name$|email|ip$|recipient|details|description|properties|content/.test(column)),
  ).toEqual([
    // What kind of event it was, such as page.viewed.
    'analytics_events.name',
  ])
})

test('autovacuum sees to every table with data of a user after one deletion in ten thousand rows', async () => {
  const ctx = await testContext()
  const tables = [
    ...new Set(DELETION_MAP.map(({ table }) => table)),
    'withdrawals',
    'app_notifications',
    'retained_records',
  ]
  const cared = await ctx.db.$queryRaw<{ name: string }[]>`
    SELECT relname AS name FROM pg_class
    WHERE reloptions @> ARRAY['autovacuum_vacuum_threshold=0', 'autovacuum_vacuum_scale_factor=0.0001']`
  expect(cared.map(({ name }) => name).sort()).toEqual(tables.sort())
})
