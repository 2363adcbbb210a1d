import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { AppError } from '@/contract/errors'
import type { Passwords } from '@/domain/context'
import { createGate, type Gate } from './gate'

// Of the settings that OWASP calls equally strong the fastest here (docs/decisions/0003): 12 MiB, three passes, one lane.
const ARGON2ID = { memoryCost: 12_288, timeCost: 3, parallelism: 1 }
/** Of a random password that was thrown away. */
const NOBODYS = '$argon2id$v=19$m=12288,t=3,p=1$42a420T/Xlspq9SkWkMikQ$EfitoyZ6qJBV9ad4J2XGRCMwewu7Dg+nj/T+uj5DOL0'
const AT_ONCE = Math.max(1, availableParallelism() - 1)
const MOST_WAITING = 500

export interface PasswordQueue extends Passwords {
  load: Gate['load']
}

/** Hashing leaves one core to everything else, and refuses once the queue is too long to be of use. */
export function createPasswords(): PasswordQueue {
  const gate = createGate(AT_ONCE)
  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (gate.load().waiting >= MOST_WAITING) throw new AppError('SERVER_002', undefined, 5)
    await gate.enter()
    try {
      return await work()
    } finally {
      gate.leave()
    }
  }
  return {
    hash: (password) => inTurn(() => hash(password, ARGON2ID)),
    verify: async (hashed, password) =>
      (await inTurn(() => verify(hashed ?? NOBODYS, password))) && hashed !== undefined,
    load: gate.load,
  }
}
