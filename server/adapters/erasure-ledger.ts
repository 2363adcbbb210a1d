import { createReadStream } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { LedgerStore } from '@/domain/ports'
import type { Env } from '../settings/env'
import { inBucket, inDirectory } from './archive-store'

/** Keeps the erasure ledger in a directory or in the bucket of the archives. */
export function createLedgerStore({
  ledgerDir,
  archiveS3,
  dataDir,
}: Pick<Env, 'ledgerDir' | 'archiveS3' | 'dataDir'>): LedgerStore {
  const store =
    archiveS3 && !ledgerDir ? inBucket(archiveS3) : inDirectory(ledgerDir as string, { hasManyWriters: true })
  return {
    put: (name, content) => store.put(name, Buffer.from(content)),
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
