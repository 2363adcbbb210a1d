import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'
import type { InstanceFields } from './instance-settings'
import { type Parsed, secrets } from './setting-fields'
import { SettingsError } from './settings-error'

export const SECRET_FIELDS = {
  AUTH_SECRET: secrets.optional(),
  CODE_SECRET: secrets.optional(),
  ACCEPT_NEW_SECRET: z.string().optional(),
}

export const secretSettings = (settings: Parsed<typeof SECRET_FIELDS> & InstanceFields) => ({
  /** The first secret signs; all of them verify. */
  authSecrets: settings.AUTH_SECRET ?? [keptSecret(settings.DATA_DIR, 'auth-secret')],
  codeSecrets: settings.CODE_SECRET ?? [keptSecret(settings.DATA_DIR, 'code-secret')],
  /** Names a secret that this database does not know, and that the service starts with all the same. */
  acceptedSecret: settings.ACCEPT_NEW_SECRET,
})

export function keptSecret(dataDir: string, name: string): string {
  try {
    return readOrMake(path.resolve(dataDir, name))
  } catch (error) {
    throw new SettingsError(`DATA_DIR must be a directory that can be read and written: ${(error as Error).message}.`)
  }
}

/** Created once. A finished file is linked, so that of several starters one wins, and no other can read a partial secret. */
function readOrMake(file: string): string {
  if (!existsSync(file)) {
    mkdirSync(path.dirname(file), { recursive: true })
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, randomBytes(32).toString('base64url'), { mode: 0o600 })
    try {
      linkSync(draft, file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      rmSync(draft)
    }
  }
  return readFileSync(file, 'utf8').trim()
}
