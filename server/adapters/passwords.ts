import { availableParallelism } from 'node:os'
import { AppError } from '@/contract/errors'
import type { Passwords } from '@/domain/ports'
import { startPasswordThread } from './password-thread'
import type { PasswordJob } from './password-worker'

/** The hash of a random password that nobody knows, with the same settings as all others. */
const NOBODYS = '$argon2id$v=19$m=12288,t=3,p=1$42a420T/Xlspq9SkWkMikQ$EfitoyZ6qJBV9ad4J2XGRCMwewu7Dg+nj/T+uj5DOL0'
/** At most four, because each thread takes about 17 MiB. */
const MAX_THREADS = Math.min(4, Math.max(1, availableParallelism() - 1))
const MAX_WAITING = 500

export interface PasswordQueue extends Passwords {
  load(): { running: number; waiting: number }
}

/** Hashes in threads and leaves one core to everything else. A call is refused when the queue is full. */
export function createPasswords(startThread = startPasswordThread, maxThreads = MAX_THREADS): PasswordQueue {
  const threads: { run: ReturnType<typeof startThread>['run']; jobs: number }[] = []
  const total = () => threads.reduce((sum, { jobs }) => sum + jobs, 0)

  function leastBusy() {
    const idle = threads.find(({ jobs }) => jobs === 0)
    if (idle || threads.length === maxThreads) {
      return idle ?? threads.reduce((least, thread) => (thread.jobs < least.jobs ? thread : least))
    }
    const { run } = startThread(() => threads.splice(threads.indexOf(thread), 1))
    const thread = { run, jobs: 0 }
    threads.push(thread)
    return thread
  }

  async function inTurn(job: PasswordJob) {
    if (total() >= maxThreads + MAX_WAITING) throw new AppError('SERVER_002', undefined, 5)
    const thread = leastBusy()
    thread.jobs++
    try {
      return await thread.run(job)
    } finally {
      thread.jobs--
    }
  }

  return {
    hash: async (password) => String(await inTurn({ password })),
    verify: async (hashed, password) =>
      (await inTurn({ password, hashed: hashed ?? NOBODYS })) === true && hashed !== undefined,
    load() {
      const jobs = total()
      const running = Math.min(jobs, threads.length)
      return { running, waiting: jobs - running }
    },
  }
}
