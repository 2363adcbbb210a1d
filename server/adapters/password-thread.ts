import path from 'node:path'
import { Worker } from 'node:worker_threads'
import type { PasswordJob } from './password-worker'

// 12 MiB, three passes, one lane: the fastest of the settings that OWASP calls equally strong (docs/decisions/0003).
const ARGON2ID = { memoryCost: 12_288, timeCost: 3, parallelism: 1 }

// Lower priority than the event loop, so that reads stay fast when all cores are busy; imported hashes come last.
const NICENESS = { own: 5, foreign: 10 }

/** Set by scripts/build.ts, which bundles the worker; Node runs its source where there is no bundle. */
declare const PASSWORD_WORKER_FILE: string | undefined
const SOURCE = 'server/adapters/password-worker.ts'

/**
 * Starts a thread for hashing, which takes its next job without waiting for the busy event loop. An idle thread does not keep the
 * process alive. `onEnd` is called when the thread has died; its jobs are rejected.
 */
export function startPasswordThread(onEnd: () => void, queue: 'own' | 'foreign') {
  const file = path.resolve(typeof PASSWORD_WORKER_FILE === 'undefined' ? SOURCE : PASSWORD_WORKER_FILE)
  // The thread must not inherit the options of the process, such as modules to preload.
  const worker = new Worker(file, { execArgv: [], workerData: { costs: ARGON2ID, niceness: NICENESS[queue] } })
  const jobs = new Map<number, PromiseWithResolvers<string | boolean>>()
  let ids = 0
  worker.unref()
  worker.on('message', ({ id, result, error }) => {
    const job = jobs.get(id)
    jobs.delete(id)
    if (jobs.size === 0) worker.unref()
    if (error) job?.reject(error)
    else job?.resolve(result)
  })
  let failure = new Error('the password thread has ended')
  worker.on('error', (error) => {
    failure = error as Error
  })
  worker.on('exit', () => {
    onEnd()
    for (const job of jobs.values()) job.reject(failure)
  })
  return {
    /** Runs the jobs one after the other, in the order of the calls. */
    run(job: PasswordJob): Promise<string | boolean> {
      const id = ids++
      const outcome = Promise.withResolvers<string | boolean>()
      jobs.set(id, outcome)
      worker.ref()
      worker.postMessage({ id, job })
      return outcome.promise
    },
  }
}
