import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { AppError } from '@/contract/errors'
import type { Passwords } from '@/domain/context'

// Of the settings that OWASP calls equally strong the fastest here (docs/decisions/0003): 12 MiB, three passes, one lane.
const ARGON2ID = { memoryCost: 12_288, timeCost: 3, parallelism: 1 }
/** Of a random password that was thrown away. */
const NOBODYS = '$argon2id$v=19$m=12288,t=3,p=1$42a420T/Xlspq9SkWkMikQ$EfitoyZ6qJBV9ad4J2XGRCMwewu7Dg+nj/T+uj5DOL0'
const AT_ONCE = Math.max(1, availableParallelism() - 1)
const MOST_WAITING = 500

export interface PasswordQueue extends Passwords {
  load(): { running: number; waiting: number }
}

/** Hashing leaves one core to everything else, and refuses once the queue is too long to be of use. */
export function createPasswords(): PasswordQueue {
  let running = 0
  const waiting: (() => void)[] = []
  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE) {
      if (waiting.length >= MOST_WAITING) throw new AppError('SERVER_002', undefined, 5)
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
  return {
    hash: (password) => inTurn(() => hash(password, ARGON2ID)),
    verify: async (hashed, password) =>
      (await inTurn(() => verify(hashed ?? NOBODYS, password))) && hashed !== undefined,
    load: () => ({ running, waiting: waiting.length }),
  }
}
