import { AppError } from '@/contract/errors'
import type { startPasswordThread } from './password-thread'
import type { PasswordJob } from './password-worker'
import { createSemaphore } from './semaphore'

/** Less than clients and proxies wait for an answer. */
const MAX_WAIT_MS = 10_000
/** A thread has its next job before it ends the one before, because the event loop that hands it over may be busy. */
const JOBS_PER_THREAD = 2

interface Thread {
  run: ReturnType<typeof startPasswordThread>['run']
  jobs: number
  idleSince: number
}

interface Done {
  result: string | boolean
  /** When the thread had finished the jobs before it. */
  startedAt: number
}

export interface PasswordQueue {
  /** Refuses the job with SERVER_002 when too many wait, when its turn does not come in time, or when its client leaves before that. */
  inTurn(job: PasswordJob, signal?: AbortSignal): Promise<Done>
  /** Runs the job ahead of those that wait. */
  atOnce(job: PasswordJob): Promise<Done>
  load(): { running: number; waiting: number }
}

/** A queue of jobs for its own threads. */
export function createPasswordQueue(
  startThread: (onEnd: () => void) => Pick<Thread, 'run'>,
  { maxThreads, maxWaiting }: { maxThreads: number; maxWaiting: number },
): PasswordQueue {
  const threads: Thread[] = []
  const places = createSemaphore(maxThreads * JOBS_PER_THREAD, { maxWaitMs: MAX_WAIT_MS, maxWaiting })

  function leastBusy(): Thread {
    const idle = threads.find(({ jobs }) => jobs === 0)
    if (idle || threads.length === maxThreads) {
      return idle ?? threads.reduce((least, thread) => (thread.jobs < least.jobs ? thread : least))
    }
    const { run } = startThread(() => threads.splice(threads.indexOf(thread), 1))
    const thread = { run, jobs: 0, idleSince: 0 }
    threads.push(thread)
    return thread
  }

  async function atOnce(job: PasswordJob): Promise<Done> {
    const thread = leastBusy()
    const queuedAt = performance.now()
    thread.jobs++
    try {
      const result = await thread.run(job)
      return { result, startedAt: Math.max(queuedAt, thread.idleSince) }
    } finally {
      thread.jobs--
      thread.idleSince = performance.now()
    }
  }

  return {
    atOnce,
    async inTurn(job, signal) {
      await places.acquire(signal).catch(() => {
        throw new AppError('SERVER_002', undefined, 5)
      })
      return atOnce(job).finally(places.release)
    },
    load() {
      const jobs = threads.reduce((sum, thread) => sum + thread.jobs, 0)
      const running = Math.min(jobs, threads.length)
      return { running, waiting: jobs - running + places.waiting() }
    },
  }
}
