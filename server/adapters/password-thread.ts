import { existsSync } from 'node:fs'
import path from 'node:path'
import { Worker } from 'node:worker_threads'

/** With a hash the password is compared with it, otherwise hashed. */
export interface PasswordJob {
  password: string
  hashed?: string
}

export interface PasswordThread {
  /** One after the other, in the order of the calls. */
  run(job: PasswordJob): Promise<string | boolean>
}

// Of the settings that OWASP calls equally strong the fastest here (docs/decisions/0003): 12 MiB, three passes, one lane.
const ARGON2ID = { memoryCost: 12_288, timeCost: 3, parallelism: 1 }

// As text, because neither bundler makes a file of it that a thread could load. On Linux a thread has a priority of its own:
// where the cores are used up, reads go before it.
const PROGRAM = `
const { readlinkSync } = require('node:fs')
const { setPriority } = require('node:os')
const { parentPort, workerData } = require('node:worker_threads')
const { hashSync } = require('@node-rs/argon2')
const { checkPassword } = require(workerData.checks)
try {
  setPriority(Number(readlinkSync('/proc/thread-self').split('/').pop()), 5)
} catch {}
parentPort.on('message', ({ id, job: { password, hashed } }) => {
  try {
    parentPort.postMessage({ id, result: hashed === undefined ? hashSync(password, workerData.argon2id) : checkPassword(hashed, password) })
  } catch (error) {
    parentPort.postMessage({ id, error })
  }
})`

/** The source, or the bundle where there is no source. */
const checksFile = () => {
  const source = path.resolve('server/adapters/password-checks.ts')
  return existsSync(source) ? source : path.resolve('dist/password-checks.mjs')
}

/**
 * A thread of its own takes the next job without waiting for the event loop, which has most to do when most is to be hashed.
 * It keeps nothing alive while it has no job. `onEnd`: it has died, with its jobs.
 */
export function startPasswordThread(onEnd: () => void): PasswordThread {
  // What this process was started with, such as a module to load first, is not for the thread.
  const worker = new Worker(PROGRAM, {
    eval: true,
    execArgv: [],
    workerData: { argon2id: ARGON2ID, checks: checksFile() },
  })
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
    run(job) {
      const id = ids++
      const outcome = Promise.withResolvers<string | boolean>()
      jobs.set(id, outcome)
      worker.ref()
      worker.postMessage({ id, job })
      return outcome.promise
    },
  }
}
