import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { ErasureLedger, LedgerEntry } from '@/domain/ports'

/** One JSON line a withdrawal, in the data directory and not in the database. */
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

/** A full disk, or a kill, can have left half a line behind. */
async function endsWhole(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat()
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1))
  return size === 0 || buffer.toString() === '\n'
}

/** Half a line is no loss: its withdrawal was not marked as written, so that the whole line followed. */
function parse(line: string): LedgerEntry | null {
  try {
    return JSON.parse(line) as LedgerEntry
  } catch {
    return null
  }
}
