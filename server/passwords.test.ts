import { availableParallelism } from 'node:os'
import * as argon2 from '@node-rs/argon2'
import { afterEach, expect, test, vi } from 'vitest'
import { createPasswords } from './passwords'

vi.mock('@node-rs/argon2', { spy: true })

afterEach(() => vi.resetAllMocks())

const AT_ONCE = Math.max(1, availableParallelism() - 1)
const LONGEST_QUEUE = 500

/** Stands where hashing stands: each call waits until it is told to end. */
function heldHashing() {
  const held: { end(): void; fail(error: Error): void }[] = []
  const started = vi.mocked(argon2.verify).mockImplementation(
    () =>
      new Promise<boolean>((resolve, reject) => {
        held.push({ end: () => resolve(true), fail: reject })
      }),
  )
  return { held, started: () => started.mock.calls.length }
}

/** Lets every promise that can go on go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a password is found again, unmodified to its last character, and no other is', async () => {
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

test('the hash is Argon2id with 12 MiB, three passes and one lane, salted anew each time', async () => {
  const passwords = createPasswords()
  const [one, other] = await Promise.all([passwords.hash('same'), passwords.hash('same')])
  expect(one).toMatch(/^\$argon2id\$v=19\$m=12288,t=3,p=1\$/)
  expect(one).not.toBe(other)
})

test('without a hash one is checked that takes as long as any made today', async () => {
  const passwords = createPasswords()
  const settings = (await passwords.hash('password')).split('$', 4)
  expect(await passwords.verify(undefined, 'password')).toBe(false)
  const [[nobodys] = []] = vi.mocked(argon2.verify).mock.calls
  expect(String(nobodys).split('$', 4)).toEqual(settings)
})

test('never more than all cores but one hash at once, and each end lets exactly one more begin', async () => {
  const { held, started } = heldHashing()
  const passwords = createPasswords()
  const calls = Array.from({ length: AT_ONCE + 10 }, () => passwords.verify('hash', 'password'))
  await settle()
  expect(started()).toBe(AT_ONCE)
  for (let ended = 1; ended <= 10; ended++) {
    held[ended - 1]?.end()
    await settle()
    expect(started()).toBe(AT_ONCE + ended)
  }
  for (const { end } of held) end()
  expect(await Promise.all(calls)).toEqual(calls.map(() => true))
})

test('hashing and checking share the same places', async () => {
  const { held } = heldHashing()
  const hashing = vi.mocked(argon2.hash).mockResolvedValue('hashed')
  const passwords = createPasswords()
  const checks = Array.from({ length: AT_ONCE }, () => passwords.verify('hash', 'password'))
  const hash = passwords.hash('password')
  await settle()
  expect(hashing).not.toHaveBeenCalled()
  for (const { end } of held) end()
  expect(await hash).toBe('hashed')
  await Promise.all(checks)
})

test('who waits is served in the order of arrival', async () => {
  const { held } = heldHashing()
  const passwords = createPasswords()
  const calls = Array.from({ length: AT_ONCE + 5 }, (_, n) => passwords.verify('hash', `password ${n}`))
  for (let ended = 0; ended < calls.length; ended++) {
    await settle()
    held[ended]?.end()
  }
  await Promise.all(calls)
  expect(vi.mocked(argon2.verify).mock.calls.map(([, password]) => password)).toEqual(
    calls.map((_, n) => `password ${n}`),
  )
})

test('when five hundred wait the next is refused with SERVER_002 and a time to wait, and none of the others suffers', async () => {
  const { held, started } = heldHashing()
  const passwords = createPasswords()
  const accepted = Array.from({ length: AT_ONCE + LONGEST_QUEUE }, () => passwords.verify('hash', 'password'))
  await expect(passwords.verify('hash', 'one too many')).rejects.toMatchObject({
    code: 'SERVER_002',
    retryAfterSeconds: 5,
  })
  for (let ended = 0; ended < accepted.length; ended++) {
    await settle()
    held[ended]?.end()
  }
  expect(await Promise.all(accepted)).toHaveLength(AT_ONCE + LONGEST_QUEUE)
  expect(started()).toBe(AT_ONCE + LONGEST_QUEUE)
})

test('a failure gives its place to the next', async () => {
  const { held, started } = heldHashing()
  const passwords = createPasswords()
  const failing = Array.from({ length: AT_ONCE }, () => passwords.verify('hash', 'password'))
  const next = passwords.verify('hash', 'password')
  await settle()
  const outcomes = Promise.allSettled(failing)
  for (const { fail } of held) fail(new Error('out of memory'))
  expect((await outcomes).map(({ status }) => status)).toEqual(failing.map(() => 'rejected'))
  await settle()
  expect(started()).toBe(AT_ONCE + 1)
  held.at(-1)?.end()
  expect(await next).toBe(true)
})
