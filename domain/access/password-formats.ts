import type { StoredPassword } from '@/contract/admin'
import { AppError } from '@/contract/errors'

/** Ours: what `server/adapters/passwords.ts` makes. */
const OWN = /^\$argon2id\$v=19\$m=12288,t=3,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/

/** A password that another system stored, as it is kept here. */
export function acceptPassword({ format, value }: StoredPassword): string {
  if (format !== 'argon2id' || !OWN.test(value)) {
    throw new AppError('REQUEST_001', 'password.format and password.value must be a hash in a known format.')
  }
  return value
}
