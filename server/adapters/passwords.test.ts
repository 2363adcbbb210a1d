import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { OWN_PASSWORD_PREFIX } from '@/domain/passwords/password-formats'
import { foreignPasswords } from '@/testing/foreign-passwords'
import type { startPasswordThread } from './password-thread'
import type { PasswordJob } from './password-worker'
import { createPasswords, type MeasuredPasswords } from './passwords'

vi.mock('node:timers/promises', () => ({ setTimeout: vi.fn(async () => {}) }))

const THREADS = 3
/** Each thread has the next job as well. */
const AT_THREADS = 2 * THREADS
const MAX_QUEUE = 500
const OWN = `${OWN_PASSWORD_PREFIX}salt$hash`
const FOREIGN = '$2b$12$saltandhash'

interface Held {
  job: PasswordJob
  end(result: string | boolean): void
  fail(error: Error): void
}

/** Replaces the hashing: each thread holds its job until the test ends it, then begins the next. */
function heldThreads(
  create: (start: typeof startPasswordThread) => MeasuredPasswords = (start) => createPasswords(start, THREADS),
) {
  const queues: Held[][] = []
  const foreign: Held[][] = []
  const deaths: (() => void)[] = []
  const start: typeof startPasswordThread = (onEnd, origin) => {
    const queue: Held[] = []
    ;(origin === 'own' ? queues : foreign).push(queue)
    deaths.push(onEnd)
    return {
      run(job) {
        const { promise, resolve, reject } = Promise.withResolvers<string | boolean>()
        queue.push({ job, end: resolve, fail: reject })
        return promise
      },
    }
  }
  return { queues, foreign, deaths, passwords: create(start) }
}

/** Lets every settled promise continue. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** Ends the jobs at the threads, and those that come after them, until all of these calls are answered. */
async function endAll(queues: Held[][], calls: Promise<unknown>[]) {
  let open = calls.length
  for (const call of calls) call.catch(() => {}).finally(() => open--)
  while (open > 0) {
    for (const { end } of queues.flat()) end(true)
    await settle()
  }
}

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
  await settle()
  const [held] = queues.flat()
  expect(held?.job.hashed?.split('$', 4)).toEqual(settings)
  held?.end(true)
  expect(await verified).toBe(false)
})

test('B81 a password in another form than the normalised one costs as many hashes for an unknown account as for a known one', async () => {
  const { queues, passwords } = heldThreads()
  const typed = 'pässwörd'.normalize('NFD')
  const calls = [passwords.verify(undefined, typed), passwords.verify(OWN, typed)]
  await settle()
  expect(queues.flat().map(({ job }) => [job.password, job.asTyped])).toEqual(
    Array(2).fill([typed.normalize('NFKC'), typed]),
  )
  await endAll(queues, calls)
})

test('no more threads start than allowed, each has two jobs at most, and a job goes to the thread with the fewest', async () => {
  const { queues, passwords } = heldThreads()
  const calls = Array.from({ length: AT_THREADS + 2 }, (_, n) => passwords.verify(OWN, `password ${n}`))
  await settle()
  expect(queues.map((queue) => queue.map(({ job }) => job.password))).toEqual(
    Array.from({ length: THREADS }, (_, thread) => [0, 1].map((n) => `password ${n * THREADS + thread}`)),
  )
  expect(passwords.load().own).toEqual({ running: THREADS, waiting: THREADS + 2 })
  queues[1]?.[0]?.end(true)
  await settle()
  expect(queues.map((queue) => queue.length)).toEqual([2, 3, 2])
  expect(queues[1]?.at(-1)?.job.password).toBe('password 6')
  await endAll(queues, calls)
  expect(await Promise.all(calls)).toEqual(calls.map(() => true))
  expect(passwords.load().own).toEqual({ running: 0, waiting: 0 })
})

test('L27 checks of imported hashes have threads and a queue of their own, so that no check of ours waits for them', async () => {
  const { queues, foreign, passwords } = heldThreads()
  const guesses = Array.from({ length: 100 }, () => passwords.verify(FOREIGN, 'wrong'))
  const own = passwords.verify(OWN, 'password')
  const hashed = passwords.hash('password')
  await settle()
  expect(queues.flat()).toHaveLength(2)
  for (const { end } of queues.flat()) end(true)
  expect([await own, await hashed]).toEqual([true, 'true'])
  expect(passwords.load()).toEqual({
    own: { running: 0, waiting: 0 },
    foreign: { running: THREADS, waiting: 100 - THREADS },
  })
  await endAll(foreign, guesses)
})

test('a check without a hash uses the requested queue', async () => {
  const { queues, foreign, passwords } = heldThreads()
  const checks = [passwords.verify(undefined, 'x', { isForeign: true }), passwords.verify(undefined, 'x')]
  await settle()
  expect([foreign, queues].map((threads) => threads.flat().length)).toEqual([1, 1])
  await endAll([...foreign, ...queues], checks)
  expect(await Promise.all(checks)).toEqual([false, false])
})

test('how long an imported hash takes is measured ahead of the checks that wait', async () => {
  const { foreign, passwords } = heldThreads()
  const guesses = Array.from({ length: 100 }, () => passwords.verify(FOREIGN, 'wrong'))
  await settle()
  const measured = passwords.timeOf('a sample')
  expect(foreign.map((queue) => queue.at(-1)?.job.hashed)).toContain('a sample')
  await endAll(foreign, guesses)
  expect(await measured).toBeGreaterThan(0)
})

test('a check whose turn does not come in ten seconds is refused with SERVER_002 and Retry-After, and is not made', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { foreign, passwords } = heldThreads()
  const started = Array.from({ length: AT_THREADS }, () => passwords.verify(FOREIGN, 'wrong'))
  const late = passwords.verify(FOREIGN, 'late')
  const refused = expect(late).rejects.toMatchObject({ code: 'SERVER_002', retryAfterSeconds: 5 })
  await vi.advanceTimersByTimeAsync(10_000)
  await refused
  expect(passwords.load().foreign.waiting).toBe(AT_THREADS - THREADS)
  await endAll(foreign, started)
  expect(foreign.flat().map(({ job }) => job.password)).not.toContain('late')
})

test('a check whose client has gone is dropped while it waits, and is made once it has begun', async () => {
  const { foreign, passwords } = heldThreads()
  const client = new AbortController()
  const { signal } = client
  const started = Array.from({ length: AT_THREADS }, () => passwords.verify(FOREIGN, 'begun', { signal }))
  const waits = passwords.verify(FOREIGN, 'waits', { signal })
  const other = passwords.verify(FOREIGN, 'other')
  await settle()
  client.abort()
  await expect(waits).rejects.toMatchObject({ code: 'SERVER_002' })
  await expect(passwords.verify(FOREIGN, 'too late', { signal })).rejects.toMatchObject({ code: 'SERVER_002' })
  await endAll(foreign, [...started, other])
  expect(await Promise.all([...started, other])).toEqual(Array(AT_THREADS + 1).fill(true))
  expect(new Set(foreign.flat().map(({ job }) => job.password))).toEqual(new Set(['begun', 'other']))
})

test.each(['native', 'JavaScript'])('bcrypt is checked alike by the %s module', async (kind) => {
  vi.resetModules()
  if (kind === 'JavaScript')
    vi.doMock('@node-rs/bcrypt', () => Promise.reject(new Error('no binary for this platform')))
  else vi.doMock('bcryptjs', () => Promise.reject(new Error('not needed')))
  onTestFinished(() => {
    vi.doUnmock('@node-rs/bcrypt')
    vi.doUnmock('bcryptjs')
  })
  const { checkPassword } = await import('./password-checks')
  const { acceptPassword } = await import('@/domain/passwords/password-formats')
  const fixtures = foreignPasswords.filter(({ given }) => given.format === 'bcrypt')
  expect(fixtures.length).toBeGreaterThan(1)
  for (const { given, password } of fixtures) {
    expect(checkPassword(acceptPassword(given), password)).toBe(true)
    expect(checkPassword(acceptPassword(given), `not ${password}`)).toBe(false)
  }
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
  await settle()
  expect(queues).toHaveLength(threads)
})

test.each([
  ['own', MAX_QUEUE, OWN, FOREIGN],
  ['foreign', 200, FOREIGN, OWN],
])(
  'when too many jobs of the %s queue wait, %i of them, the next is refused with SERVER_002 and Retry-After, and no other is',
  async (_queue, places, hash, otherHash) => {
    const { queues, foreign, passwords } = heldThreads()
    const accepted = Array.from({ length: AT_THREADS + places }, () => passwords.verify(hash, 'password'))
    const oneTooMany = () => passwords.verify(hash, 'one too many')
    await settle()
    await expect(oneTooMany()).rejects.toMatchObject({ code: 'SERVER_002', retryAfterSeconds: 5 })
    const other = passwords.verify(otherHash, 'password')
    const [thread] = hash === OWN ? queues : foreign
    thread?.[0]?.end(true)
    await settle()
    const next = oneTooMany()
    await endAll([...queues, ...foreign], [...accepted, other, next])
    expect(await Promise.all([...accepted, other, next])).toEqual(Array(AT_THREADS + places + 2).fill(true))
  },
)

test('a failure affects its own job only, and a dead thread is replaced', async () => {
  const { queues, deaths, passwords } = heldThreads()
  const first = passwords.verify(OWN, 'password')
  await settle()
  queues[0]?.[0]?.fail(new Error('out of memory'))
  await expect(first).rejects.toThrow('out of memory')
  const second = passwords.verify(OWN, 'password')
  await settle()
  expect(queues).toHaveLength(1)
  deaths[0]?.()
  queues[0]?.[1]?.fail(new Error('died'))
  await expect(second).rejects.toThrow('died')
  const third = passwords.verify(OWN, 'password')
  await settle()
  expect(queues).toHaveLength(2)
  queues[1]?.[0]?.end(true)
  expect(await third).toBe(true)
})

test('an answer that is held back waits longer once a check has taken longer, but never four times as long', async () => {
  const { queues, passwords } = heldThreads()
  let at = 0
  const now = vi.spyOn(performance, 'now').mockImplementation(() => at)
  onTestFinished(() => now.mockRestore())
  const heldAfter = async (checkMs: number) => {
    vi.mocked(sleep).mockClear()
    const answer = passwords.verify(OWN, 'password', { notBeforeMs: 50 })
    await settle()
    at += checkMs
    for (const { end } of queues.flat()) end(true)
    await answer
    return vi.mocked(sleep).mock.calls
  }
  expect(await heldAfter(0)).toEqual([[50]])
  expect(await heldAfter(120)).toEqual([])
  expect(await heldAfter(20)).toEqual([[120 * 0.99 - 20]])
  await heldAfter(400)
  expect(await heldAfter(0)).toEqual([[4 * 50 * 0.99]])
})

test('an answer that is held back keeps no thread and no place in the queue', async () => {
  const { queues, passwords } = heldThreads()
  const over = Promise.withResolvers<void>()
  for (let n = 0; n < AT_THREADS; n++) vi.mocked(sleep).mockReturnValueOnce(over.promise)
  const held = Array.from({ length: AT_THREADS }, () => passwords.verify(OWN, 'held', { notBeforeMs: 1_000_000 }))
  const next = passwords.verify(OWN, 'next')
  await endAll(queues, [next])
  expect(passwords.load().own).toEqual({ running: 0, waiting: 0 })
  over.resolve()
  expect(await Promise.all([...held, next])).toEqual(Array(AT_THREADS + 1).fill(true))
})
