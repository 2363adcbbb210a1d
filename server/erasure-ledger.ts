import { appendFile, mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { ErasureLedger, LedgerEntry } from '@/domain/context'

/** One JSON line a withdrawal, in the data directory and not in the database. */
export function createErasureLedger({ dataDir }: { dataDir: string }): ErasureLedger {
  const file = path.join(dataDir, 'erasure-ledger.ndjson')
  return {
    async append(entries) {
      await mkdir(dataDir, { recursive: true })
      await appendFile(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 })
    },
    async read() {
      const text = await readFile(file, 'utf8').catch((error) => {
        if (error.code === 'ENOENT') return ''
        throw error
      })
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as LedgerEntry)
    },
  }
}
