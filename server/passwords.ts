import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { AppError } from '@/contract/errors'
import type { Passwords } from '@/domain/context'

// OWASP's smallest Argon2id setting: 19 MiB, two passes, one lane.
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Of a random password that was thrown away. */
const NOBODYS = '$argon2id$v=19$m=19456,t=2,p=1$5H9XjbKDYi+H0IY0jjLmlQ$Tcp3OFg4mf2475ZwH5qis6O0qiXFd8z/tnXprMymFbQ'
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
