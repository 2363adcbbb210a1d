import { randomBytes } from 'node:crypto'

const POOL_BYTES = 4096
let pool = Buffer.alloc(0)
let used = 0

/** URL-safe text of so many random bytes. A call to the generator costs more than the bytes, so that it is asked for many at once. */
export function randomText(bytes: number): string {
  if (used + bytes > pool.length) {
    pool = randomBytes(POOL_BYTES)
    used = 0
  }
  used += bytes
  return pool.toString('base64url', used - bytes, used)
}
