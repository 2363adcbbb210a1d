import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { ErasureLedger, LedgerEntry } from '@/domain/ports'

/** Keeps one JSON line for each withdrawal in the data directory, outside the database. */
export function createErasureLedger({ dataDir }: { dataDir: string }): ErasureLedger {
  const file = path.join(dataDir, 'erasure-ledger.ndjson')
  return {
    async append(entries) {
      await mkdir(dataDir, { recursive: true })
      const handle = await open(file, 'a+', 0o600)
      try {
        const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
        await handle.appendFile(`${(await endsWhole(handle)) ? '' : '\n'}${lines}`)
        await handle.sync()
      } finally {
        await handle.close()
      }
    },
    async read() {
      const text = await readFile(file, 'utf8').catch((error) => {
        if (error.code === 'ENOENT') return ''
        throw error
      })
      return text.split('\n').flatMap((line) => parse(line) ?? [])
    },
  }
}

/** False when a full disk or a kill left a partial line. */
async function endsWhole(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat()
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1))
  return size === 0 || buffer.toString() === '\n'
}

/** Skips a partial line. Its withdrawal was not marked as written, so the whole line was appended later. */
function parse(line: string): LedgerEntry | null {
  try {
    return JSON.parse(line) as LedgerEntry
  } catch {
    return null
  }
}
