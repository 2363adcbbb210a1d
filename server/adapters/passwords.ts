import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { normalisedPassword } from '@/contract/guessable-password'
import { OWN_PASSWORD_PREFIX } from '@/domain/passwords/password-formats'
import type { Passwords } from '@/domain/ports'
import { createPasswordQueue, type PasswordQueue } from './password-queue'
import { startPasswordThread } from './password-thread'

/** The hash of a random password that nobody knows, with the same parameters as all others. */
const HASH_OF_NOBODY =
  '$argon2id$v=19$m=12288,t=3,p=1$42a420T/Xlspq9SkWkMikQ$EfitoyZ6qJBV9ad4J2XGRCMwewu7Dg+nj/T+uj5DOL0'
/** At most four, because each thread takes about 17 MiB. */
const MAX_THREADS = Math.min(4, Math.max(1, availableParallelism() - 1))
const MAX_WAITING_OWN = 500
/** Fewer, because a check of an imported hash takes about ten times as long. */
const MAX_WAITING_FOREIGN = 200
/** One very slow check must not delay all others as much. */
const MAX_RAISE = 4
const HELD_DECAY = 0.99

export interface MeasuredPasswords extends Passwords {
  load(): Record<'own' | 'foreign', ReturnType<PasswordQueue['load']>>
}

/**
 * Hashes in threads and leaves one core to everything else. Imported hashes have a queue and threads of their own, because they may
 * take long and must not delay anybody else.
 */
export function createPasswords(startThread = startPasswordThread, maxThreads = MAX_THREADS): MeasuredPasswords {
  const own = createPasswordQueue((onEnd) => startThread(onEnd, 'own'), { maxThreads, maxWaiting: MAX_WAITING_OWN })
  const foreign = createPasswordQueue((onEnd) => startThread(onEnd, 'foreign'), {
    maxThreads,
    maxWaiting: MAX_WAITING_FOREIGN,
  })
  let heldMs = 0

  return {
    hash: async (typed, signal) => String((await own.inTurn({ password: normalisedPassword(typed) }, signal)).result),
    async verify(hashed, typed, { notBeforeMs = 0, isForeign = false, signal } = {}) {
      const waitsWithForeign = hashed === undefined ? isForeign : !hashed.startsWith(OWN_PASSWORD_PREFIX)
      const queue = waitsWithForeign ? foreign : own
      const password = normalisedPassword(typed)
      const other = password === typed ? {} : { asTyped: typed }
      const { result, startedAt } = await queue.inTurn({ password, ...other, hashed: hashed ?? HASH_OF_NOBODY }, signal)
      const forms = 'asTyped' in other ? 2 : 1
      const tookMs = (performance.now() - startedAt) / forms
      if (notBeforeMs > 0) {
        // If the machine is busier than when it was measured, the next checks also take as long as a slow one takes now.
        heldMs = Math.min(MAX_RAISE * notBeforeMs, Math.max(notBeforeMs, tookMs, heldMs * HELD_DECAY))
        if (heldMs > tookMs) await sleep((heldMs - tookMs) * forms)
      }
      return hashed !== undefined && (result === 'as_typed' ? result : result === true)
    },
    async timeOf(hashed) {
      // The mark makes hashes of WordPress try both of their forms.
      const { startedAt } = await foreign.atOnce({ password: "nobody's", hashed })
      return performance.now() - startedAt
    },
    load: () => ({ own: own.load(), foreign: foreign.load() }),
  }
}
