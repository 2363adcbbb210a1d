import { randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Distinguishes a running process from a later one with the same id: its start time where /proc has it, else ''.
 * Null when there is no such process.
 * @param {number} pid
 * @returns {string | null}
 */
export function processStamp(pid) {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return null
  }
  try {
    const [state, ...fields] = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return state === 'Z' || state === 'X' ? null : (fields[18] ?? '')
  } catch {
    return ''
  }
}

/**
 * @param {number} pid
 * @param {string} stamp the result of processStamp when the id was written down
 */
export function isSameProcess(pid, stamp) {
  const now = processStamp(pid)
  return now !== null && (now === '' || stamp === '' || now === stamp)
}

/**
 * Runs the action while no other process on this machine runs one under the same lock file.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} action
 * @param {() => void} [onWait] called once when the lock is taken
 * @returns {Promise<T>}
 */
export async function withLock(path, action, onWait) {
  mkdirSync(dirname(path), { recursive: true })
  for (let isWaiting = false; !tryLock(path); isWaiting = true) {
    const holder = readHolder(path)
    if (holder && !isSameProcess(holder.pid, holder.stamp)) {
      // Only the holder of a second lock, named after the dead holder, may remove the file: so nobody removes a new lock by mistake.
      await withLock(`${path}.${holder.id}`, async () => {
        if (readHolder(path)?.id === holder.id) rmSync(path, { force: true })
      })
    } else if (holder) {
      if (!isWaiting) onWait?.()
      await sleep(100)
    }
  }
  try {
    return await action()
  } finally {
    rmSync(path, { force: true })
  }
}

/** @param {string} path */
function tryLock(path) {
  const id = randomUUID()
  const draft = `${path}.${id}.draft`
  writeFileSync(draft, `${process.pid} ${processStamp(process.pid)} ${id}`)
  try {
    // A link appears together with its content, so nobody reads a partial lock file.
    linkSync(draft, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** @param {string} path */
function readHolder(path) {
  try {
    const [pid, stamp = '', id] = readFileSync(path, 'utf8').split(' ')
    return { pid: Number(pid), stamp, id }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** @param {unknown} error */
const codeOf = (error) => (error instanceof Error && 'code' in error ? error.code : undefined)
