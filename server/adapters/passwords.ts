import { availableParallelism } from 'node:os'
import { AppError } from '@/contract/errors'
import type { Passwords } from '@/domain/ports'
import { type PasswordJob, startPasswordThread } from './password-thread'

/** Of a random password that was thrown away, with the settings of all others. */
const NOBODYS = '$argon2id$v=19$m=12288,t=3,p=1$42a420T/Xlspq9SkWkMikQ$EfitoyZ6qJBV9ad4J2XGRCMwewu7Dg+nj/T+uj5DOL0'
/** Each costs some 17 MiB, so that a large machine does not get one for every core. */
const MOST_THREADS = Math.min(4, Math.max(1, availableParallelism() - 1))
const MOST_WAITING = 500

export interface PasswordQueue extends Passwords {
  load(): { running: number; waiting: number }
}

/** Hashing leaves one core to everything else, and refuses once the queue is too long to be of use. */
export function createPasswords(startThread = startPasswordThread, mostThreads = MOST_THREADS): PasswordQueue {
  const threads: { run: ReturnType<typeof startThread>['run']; jobs: number }[] = []
  const total = () => threads.reduce((sum, { jobs }) => sum + jobs, 0)

  function leastBusy() {
    const idle = threads.find(({ jobs }) => jobs === 0)
    if (idle || threads.length === mostThreads) {
      return idle ?? threads.reduce((least, thread) => (thread.jobs < least.jobs ? thread : least))
    }
    const { run } = startThread(() => threads.splice(threads.indexOf(thread), 1))
    const thread = { run, jobs: 0 }
    threads.push(thread)
    return thread
  }

  async function inTurn(job: PasswordJob) {
    if (total() >= mostThreads + MOST_WAITING) throw new AppError('SERVER_002', undefined, 5)
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
