import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '@/contract/errors'
import type { Passwords } from '@/domain/ports'
import { startPasswordThread } from './password-thread'
import type { PasswordJob } from './password-worker'

/** The hash of a random password that nobody knows, with the same parameters as all others. */
const NOBODYS = '$argon2id$v=19$m=12288,t=3,p=1$42a420T/Xlspq9SkWkMikQ$EfitoyZ6qJBV9ad4J2XGRCMwewu7Dg+nj/T+uj5DOL0'
/** At most four, because each thread takes about 17 MiB. */
const MAX_THREADS = Math.min(4, Math.max(1, availableParallelism() - 1))
const MAX_WAITING = 500
/** One very slow check must not delay all others as much. */
const MAX_RAISE = 4
const HELD_DECAY = 0.99

export interface PasswordQueue extends Passwords {
  load(): { running: number; waiting: number }
}

/** Hashes in threads and leaves one core to everything else. A call is refused when the queue is full. */
export function createPasswords(startThread = startPasswordThread, maxThreads = MAX_THREADS): PasswordQueue {
  const threads: { run: ReturnType<typeof startThread>['run']; jobs: number; idleSince: number }[] = []
  let heldMs = 0
  const total = () => threads.reduce((sum, { jobs }) => sum + jobs, 0)

  function leastBusy() {
    const idle = threads.find(({ jobs }) => jobs === 0)
    if (idle || threads.length === maxThreads) {
      return idle ?? threads.reduce((least, thread) => (thread.jobs < least.jobs ? thread : least))
    }
    const { run } = startThread(() => threads.splice(threads.indexOf(thread), 1))
    const thread = { run, jobs: 0, idleSince: 0 }
    threads.push(thread)
    return thread
  }

  /** `beganAt`: when the thread had finished the jobs before it. */
  async function inTurn(job: PasswordJob) {
    if (total() >= maxThreads + MAX_WAITING) throw new AppError('SERVER_002', undefined, 5)
    const thread = leastBusy()
    const askedAt = performance.now()
    thread.jobs++
    try {
      const result = await thread.run(job)
      return { result, beganAt: Math.max(askedAt, thread.idleSince) }
    } finally {
      thread.jobs--
      thread.idleSince = performance.now()
    }
  }

  return {
    hash: async (password) => String((await inTurn({ password })).result),
    async verify(hashed, password, notBeforeMs = 0) {
      const { result, beganAt } = await inTurn({ password, hashed: hashed ?? NOBODYS })
      const tookMs = performance.now() - beganAt
      // If the machine is busier than when it was measured, the next checks also take as long as a slow one takes now.
      if (notBeforeMs > 0)
        heldMs = Math.min(MAX_RAISE * notBeforeMs, Math.max(notBeforeMs, tookMs, heldMs * HELD_DECAY))
      const leftMs = notBeforeMs > 0 ? heldMs - tookMs : 0
      if (leftMs > 0) await sleep(leftMs)
      return result === true && hashed !== undefined
    },
    async timeOf(hashed) {
      const { beganAt } = await inTurn({ password: 'nobody’s', hashed })
      return performance.now() - beganAt
    },
    load() {
      const jobs = total()
      const running = Math.min(jobs, threads.length)
      return { running, waiting: jobs - running }
    },
  }
}
