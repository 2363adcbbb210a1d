import { createReadStream } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { LedgerStore } from '@/domain/ports'
import type { Env } from '../settings/env'
import { inBucket, inDirectory } from './object-store'

export function createLedgerStore({
  ledgerDir,
  ledgerS3,
  dataDir,
}: Pick<Env, 'ledgerDir' | 'ledgerS3' | 'dataDir'>): LedgerStore {
  const store = ledgerS3 ? inBucket(ledgerS3) : inDirectory(ledgerDir as string, { hasManyWriters: true })
  return {
    put: (name, content) => store.put(name, Buffer.from(content)),
    add: (name, content) => store.add(name, Buffer.from(content)),
    get: async (name) => (await store.get(name))?.toString() ?? null,
    list: (folder, after) => store.list(`${folder}/`, after),
    delete: (name) => store.delete(name),
    earlierLines: () => linesOf(path.join(dataDir, 'erasure-ledger.ndjson')),
  }
}

async function* linesOf(file: string): AsyncIterable<string> {
  try {
    yield* createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
