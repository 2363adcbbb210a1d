import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { hashSync } from '@node-rs/argon2'
import { checkPassword } from './password-checks.ts'

/** With a hash the password is compared with it, otherwise hashed. */
export interface PasswordJob {
  password: string
  /** What was typed, where that is another text: a hash may be of it. A wrong password is compared in both forms. */
  asTyped?: string
  hashed?: string
}

const { costs, niceness } = workerData

// Only Linux has priorities of threads.
try {
  setPriority(Number(readlinkSync('/proc/thread-self').split('/').pop()), niceness)
} catch {}

parentPort?.on('message', ({ id, job: { password, asTyped, hashed } }: { id: number; job: PasswordJob }) => {
  try {
    const result =
      hashed === undefined
        ? hashSync(password, costs)
        : checkPassword(hashed, password) || (asTyped !== undefined && checkPassword(hashed, asTyped) && 'as_typed')
    parentPort?.postMessage({ id, result })
  } catch (error) {
    parentPort?.postMessage({ id, error })
  }
})
