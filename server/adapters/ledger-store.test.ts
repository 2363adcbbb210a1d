import { appendFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLedgerStore } from './ledger-store'

async function givenStore() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'ledger-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const ledgerDir = path.join(dataDir, 'ledger')
  return { dataDir, ledgerDir, store: createLedgerStore({ dataDir, ledgerDir, ledgerS3: undefined }) }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = []
  for await (const item of items) read.push(item)
  return read
}

test('a directory keeps one file for each object, lists them in their order, and lists no partial file', async () => {
  const { ledgerDir, store } = await givenStore()
  expect(await all(store.list('log/a'))).toEqual([])
  expect(await store.get('log/a/2')).toBeNull()
  for (const name of ['log/a/2', 'log/a/1', 'log/a/3', 'log/b/1']) await store.put(name, `lines of ${name}`)
  await writeFile(path.join(ledgerDir, 'log/a/4.part'), 'half a li')
  expect(await all(store.list('log/a'))).toEqual(['log/a/1', 'log/a/2', 'log/a/3'])
  expect(await all(store.list('log/a', 'log/a/1'))).toEqual(['log/a/2', 'log/a/3'])
  expect(await store.get('log/a/2')).toBe('lines of log/a/2')
  await store.delete('log/a/2')
  expect((await readdir(path.join(ledgerDir, 'log/a'))).sort()).toEqual(['1', '3', '4.part'])
})

test('instances that write the same object in one directory at once all succeed, and the object is whole', async () => {
  const { dataDir, ledgerDir, store } = await givenStore()
  const other = createLedgerStore({ dataDir, ledgerDir, ledgerS3: undefined })
  const lines = 'a line\n'.repeat(10_000)
  await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? store : other).put('log/a/1', lines)))
  expect(await store.get('log/a/1')).toBe(lines)
  expect(await readdir(path.join(ledgerDir, 'log/a'))).toEqual(['1'])
})

test('one of the instances that add the same object in one directory at once succeeds, and the object is its own', async () => {
  const { dataDir, ledgerDir, store } = await givenStore()
  const other = createLedgerStore({ dataDir, ledgerDir, ledgerS3: undefined })
  const added = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (n % 2 ? store : other).add('log/a/1', `lines ${n}`)),
  )
  expect(added.filter(Boolean)).toHaveLength(1)
  expect(await store.get('log/a/1')).toBe(`lines ${added.indexOf(true)}`)
  expect(await readdir(path.join(ledgerDir, 'log/a'))).toEqual(['1'])
})

test('a try that fails leaves no partial file', async () => {
  const { ledgerDir, store } = await givenStore()
  // Nothing can be named like a folder.
  await mkdir(path.join(ledgerDir, 'log/a/1'), { recursive: true })
  await expect(store.put('log/a/1', 'lines')).rejects.toThrow()
  expect(await readdir(path.join(ledgerDir, 'log/a'))).toEqual(['1'])
})

test('the lines of an earlier release are read one by one, if there are any', async () => {
  const { dataDir, store } = await givenStore()
  expect(await all(store.earlierLines())).toEqual([])
  await appendFile(path.join(dataDir, 'erasure-ledger.ndjson'), '{"withdrawalId":"wd_1"}\n{"withdr')
  expect(await all(store.earlierLines())).toEqual(['{"withdrawalId":"wd_1"}', '{"withdr'])
})
