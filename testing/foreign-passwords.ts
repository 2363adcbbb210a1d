import { readFileSync } from 'node:fs'
import path from 'node:path'

interface ForeignPassword {
  /** The library. */
  made_by: string
  password: string
  /** The hash of the password, as an import takes it. */
  given: { format: string; value: string; algorithm?: string }
}

const lines = readFileSync(path.join(import.meta.dirname, 'foreign-passwords.ndjson'), 'utf8')
  .trim()
  .split('\n')
export const foreignPasswords = lines.map((line): ForeignPassword => JSON.parse(line))
