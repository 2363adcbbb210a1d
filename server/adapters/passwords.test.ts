import { expect, onTestFinished, test, vi } from 'vitest'
import type { startPasswordThread } from './password-thread'
import type { PasswordJob } from './password-worker'
import { createPasswords, type PasswordQueue } from './passwords'

const THREADS = 3
const MAX_QUEUE = 500

interface Held {
  job: PasswordJob
  end(result: string | boolean): void
  fail(error: Error): void
}

/** Replaces the hashing: each thread holds its job until the test ends it, then begins the next. */
function heldThreads(
  create: (start: typeof startPasswordThread) => PasswordQueue = (start) => createPasswords(start, THREADS),
) {
  const queues: Held[][] = []
  const deaths: (() => void)[] = []
  const start: typeof startPasswordThread = (onEnd) => {
    const queue: Held[] = []
    queues.push(queue)
    deaths.push(onEnd)
    return {
      run(job) {
        const { promise, resolve, reject } = Promise.withResolvers<string | boolean>()
        queue.push({ job, end: resolve, fail: reject })
        return promise
      },
    }
  }
  return { queues, deaths, passwords: create(start) }
}

/** Lets every settled promise continue. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a hash matches its own password to the last character, and no other', async () => {
  const passwords = createPasswords()
  const long = `${'x'.repeat(79)}a`
  for (const password of [long, ' leading space', 'trailing space ', 'Pässwörd 🔑'.repeat(8), 'a']) {
    const hashed = await passwords.hash(password)
    expect(await passwords.verify(hashed, password)).toBe(true)
    for (const other of [`${password} `, ` ${password}`, password.toUpperCase(), password.slice(0, -1), '']) {
      expect({ other, matches: await passwords.verify(hashed, other) }).toEqual({ other, matches: false })
    }
  }
  expect(await passwords.verify(await passwords.hash(long), `${'x'.repeat(79)}b`)).toBe(false)
})

test('the hash is Argon2id with 12 MiB, three passes and one lane, with a new salt each time', async () => {
  const passwords = createPasswords()
  const [one, other] = await Promise.all([passwords.hash('same'), passwords.hash('same')])
  expect(one).toMatch(/^\$argon2id\$v=19\$m=12288,t=3,p=1\$/)
  expect(one).not.toBe(other)
})

test('an invalid hash is an error, and the next password is still checked', async () => {
  const passwords = createPasswords()
  await expect(passwords.verify('not a hash', 'password')).rejects.toThrow()
  expect(await passwords.verify(await passwords.hash('password'), 'password')).toBe(true)
})

test('L13 a check without a hash costs as much as one with a hash made today, and matches nothing', async () => {
  const settings = (await createPasswords().hash('password')).split('$', 4)
  const { queues, passwords } = heldThreads()
  const verified = passwords.verify(undefined, 'password')
  const [held] = queues.flat()
  expect(held?.job.hashed?.split('$', 4)).toEqual(settings)
  held?.end(true)
  expect(await verified).toBe(false)
})

test('no more threads start than allowed, and a job goes to the thread with the fewest', async () => {
  const { queues, passwords } = heldThreads()
  const calls = Array.from({ length: THREADS * 3 }, (_, n) => passwords.verify('hash', `password ${n}`))
  expect(queues.map((queue) => queue.map(({ job }) => job.password))).toEqual(
    Array.from({ length: THREADS }, (_, thread) => [0, 1, 2].map((n) => `password ${n * THREADS + thread}`)),
  )
  expect(passwords.load()).toEqual({ running: THREADS, waiting: THREADS * 2 })
  queues[1]?.[0]?.end(true)
  await settle()
  calls.push(passwords.verify('hash', 'late'))
  expect(queues.map((queue) => queue.at(-1)?.job.password)).toEqual(['password 6', 'late', 'password 8'])
  for (const { end } of queues.flat()) end(true)
  expect(await Promise.all(calls)).toEqual(calls.map(() => true))
  expect(passwords.load()).toEqual({ running: 0, waiting: 0 })
})

test.each([
  [1, 1],
  [2, 1],
  [4, 3],
  [64, 4],
])('with %i cores, hashing has %i threads', async (cores, threads) => {
  vi.resetModules()
  vi.doMock('node:os', () => ({ availableParallelism: () => cores }))
  onTestFinished(() => void vi.doUnmock('node:os'))
  const { queues, passwords } = heldThreads((await import('./passwords')).createPasswords)
  for (let n = 0; n < 8; n++) passwords.hash('password')
  expect(queues).toHaveLength(threads)
})

test('when five hundred wait, the next is refused with SERVER_002 and Retry-After, and the others are not affected', async () => {
  const { queues, passwords } = heldThreads()
  const accepted = Array.from({ length: THREADS + MAX_QUEUE }, () => passwords.hash('password'))
  const oneTooMany = () => passwords.verify('hash', 'one too many')
  await expect(oneTooMany()).rejects.toMatchObject({ code: 'SERVER_002', retryAfterSeconds: 5 })
  queues[0]?.[0]?.end('hashed')
  await settle()
  const next = oneTooMany()
  for (const { end } of queues.flat()) end('hashed')
  expect(await Promise.all(accepted)).toEqual(accepted.map(() => 'hashed'))
  expect(await next).toBe(false)
})

test('a failure affects its own job only, and a dead thread is replaced', async () => {
  const { queues, deaths, passwords } = heldThreads()
  const first = passwords.verify('hash', 'password')
  queues[0]?.[0]?.fail(new Error('out of memory'))
  await expect(first).rejects.toThrow('out of memory')
  const second = passwords.verify('hash', 'password')
  expect(queues).toHaveLength(1)
  deaths[0]?.()
  queues[0]?.[1]?.fail(new Error('died'))
  await expect(second).rejects.toThrow('died')
  const third = passwords.verify('hash', 'password')
  expect(queues).toHaveLength(2)
  queues[1]?.[0]?.end(true)
  expect(await third).toBe(true)
})

test('an answer that is held back waits longer once a check has taken longer, but never four times as long', async () => {
  const { queues, passwords } = heldThreads()
  const timed = async (checkMs: number) => {
    const begun = performance.now()
    const answer = passwords.verify('hash', 'password', 50)
    await new Promise((resolve) => setTimeout(resolve, checkMs))
    for (const { end } of queues.flat()) end(true)
    await answer
    return performance.now() - begun
  }
  expect(await timed(0)).toBeGreaterThanOrEqual(49)
  await timed(120)
  expect(await timed(0)).toBeGreaterThanOrEqual(115)
  await timed(400)
  expect(await timed(0)).toBeLessThan(390)
})
