import { randomBytes } from 'node:crypto'
import { hashSync } from '@node-rs/bcrypt'
import { beforeEach, expect, test } from 'vitest'
import { changeEmail } from '@/domain/email/change-email'
import { changeInput, givenPendingChange, signInAs } from '@/testing/account'
import { asUser, givenSession, givenUser, type TestContext, testContext } from '@/testing/domain'
import { foreignPasswords } from '@/testing/foreign-passwords'
import { setPassword } from '../accounts/user'
import { countForeignHashes, listForeignKinds, renewHash, signInFloorMs, waitsAsForeign } from './foreign-hashes'
import { acceptPassword, OWN_PASSWORD_PREFIX } from './password-formats'

const hashBy = (library: string) =>
  foreignPasswords.find(({ made_by }) => made_by === library) as (typeof foreignPasswords)[number]
const BCRYPT = hashBy('bcryptjs')

let ctx: TestContext

beforeEach(async () => {
  ctx = await testContext()
  // Each imported hash makes a sign-in measure its kind, so that none of another test is left.
  await ctx.db.user.updateMany({ data: { passwordHash: null } })
})

/** A person with an imported password and no session. */
async function givenForeigner({ password, given } = BCRYPT) {
  const user = await givenUser(ctx, `mary-${randomBytes(6).toString('hex')}@example.test`)
  await ctx.db.user.update({ where: { id: user.userId }, data: { passwordHash: acceptPassword(given) } })
  return { ...user, password }
}

const rowOf = (id: string) => ctx.db.user.findUniqueOrThrow({ where: { id } })
const isOwn = async (id: string) => (await rowOf(id)).passwordHash?.startsWith(OWN_PASSWORD_PREFIX) === true

// password-formats.test.ts checks the hashes of each library.
const IN_WORDPRESS = hashBy('WordPress 6.8, from the form of its sign-in')

test.each([BCRYPT, hashBy('passlib argon2'), hashBy('Django, bcrypt_sha256'), hashBy('passlib phpass'), IN_WORDPRESS])(
  'B131 a person with an imported hash of $made_by signs in with the right password only, and then has a hash of our own',
  async (fixture) => {
    const user = await givenForeigner(fixture)
    expect(await signInAs(ctx, { ...user, password: `${user.password} ` })).toBeNull()
    await ctx.settle()
    expect(await isOwn(user.userId)).toBe(false)
    expect(await signInAs(ctx, user)).toMatchObject({ userId: user.userId })
    await ctx.settle()
    const { passwordHash } = await rowOf(user.userId)
    expect(passwordHash).toContain(OWN_PASSWORD_PREFIX)
    expect(await ctx.passwords.verify(passwordHash ?? '', user.password)).toBe(true)
    expect(await ctx.passwords.verify(passwordHash ?? '', 'another password')).toBe(false)
  },
)

test('B131 a typing error that bcrypt does not read opens as before, and does not become the password', async () => {
  const user = await givenUser(ctx)
  const long = 'correct horse battery staple '.repeat(3)
  await ctx.db.user.update({ where: { id: user.userId }, data: { passwordHash: hashSync(`${long}the end`, 4) } })
  for (const password of [`${long}the ned`, `${long}the end`]) {
    expect(await signInAs(ctx, { ...user, password })).toMatchObject({ userId: user.userId })
    await ctx.settle()
    expect(await isOwn(user.userId)).toBe(false)
  }
})

test('renewing a hash ends no session, cancels no change and does not count as a new password', async () => {
  const user = await givenForeigner()
  const own = await givenUser(ctx)
  const change = await givenPendingChange(ctx, own)
  await ctx.db.user.update({ where: { id: own.userId }, data: { passwordHash: acceptPassword(BCRYPT.given) } })
  for (const { userId, email } of [user, own]) {
    const before = await rowOf(userId)
    await signInAs(ctx, { email, password: BCRYPT.password })
    await ctx.settle()
    expect(await rowOf(userId)).toEqual({
      ...before,
      neverSignedIn: false,
      passwordHash: expect.stringContaining(OWN_PASSWORD_PREFIX),
    })
    expect(await ctx.db.auditEvent.count({ where: { userId, action: 'password.renewed', actor: 'system' } })).toBe(1)
  }
  expect((await asUser(ctx, own)).actor.userId).toBe(own.userId)
  expect((await asUser(ctx, user)).actor.userId).toBe(user.userId)
  const { status } = await ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id: change.change_request_id } })
  expect(status).toBe('pending_verification')
})

test('concurrent sign-ins all succeed, and the hash is renewed once', async () => {
  const user = await givenForeigner()
  const all = await Promise.all(Array.from({ length: 4 }, () => signInAs(ctx, user)))
  expect(all.map((signedIn) => signedIn?.userId)).toEqual(all.map(() => user.userId))
  await ctx.settle()
  expect(await isOwn(user.userId)).toBe(true)
  expect(await ctx.db.auditEvent.count({ where: { userId: user.userId, action: 'password.renewed' } })).toBe(1)
})

test('an email change checks an imported hash, renews it and succeeds', async () => {
  const user = await givenForeigner()
  const as = await asUser(ctx, { ...user, sessionId: await givenSession(ctx, user.userId) })
  const input = changeInput(user, `new-${user.email}`)
  await expect(changeEmail(as, { ...input, current_password: 'wrong' })).rejects.toMatchObject({ code: 'EMAIL_007' })
  await ctx.settle()
  expect(await isOwn(user.userId)).toBe(false)
  expect(await changeEmail(as, input)).toMatchObject({ status: 'pending_verification' })
  await ctx.settle()
  expect(await isOwn(user.userId)).toBe(true)
})

test('a password that is changed while the old one is renewed stays the new one', async () => {
  const user = await givenForeigner()
  const { passwordHash } = await rowOf(user.userId)
  await setPassword(ctx, { userId: user.userId, password: 'a new password' })
  renewHash(ctx, { userId: user.userId, passwordHash, password: user.password })
  await ctx.settle()
  expect(await signInAs(ctx, user)).toBeNull()
  expect(await signInAs(ctx, { ...user, password: 'a new password' })).toMatchObject({ userId: user.userId })
})

test('while imported hashes exist, no sign-in for any address is answered faster than the slowest scheme', async () => {
  const measured: string[] = []
  const timeOf = async (hash: string) => {
    measured.push(hash.slice(0, 6))
    return 200
  }
  const { verify } = ctx.passwords
  const held: unknown[] = []
  const verifyNow: typeof verify = (hash, password, { notBeforeMs, ...options } = {}) => {
    held.push(notBeforeMs)
    return verify(hash, password, options)
  }
  ctx.passwords = { ...ctx.passwords, timeOf, verify: verifyNow }
  const [own, nobody] = [await givenUser(ctx), { email: 'nobody@example.test', password: 'wrong' }]
  expect(await signInFloorMs(ctx)).toBe(0)
  const user = await givenForeigner()
  ctx.clock.advance(10_000)
  expect(await signInFloorMs(ctx)).toBe(300)
  const [stored] = await ctx.sql(listForeignKinds, {})
  expect(stored).toEqual({ kind: '$2b$10' })
  expect(new Set(measured)).toEqual(new Set(['$2b$10']))
  const withoutPassword = await givenUser(ctx)
  await ctx.db.user.update({ where: { id: withoutPassword.userId }, data: { passwordHash: null } })
  const guesses = [own, user].map((person) => ({ ...person, password: 'wrong' }))
  for (const who of [own, nobody, withoutPassword, ...guesses, user]) await signInAs(ctx, who)
  expect(held).toEqual(Array(6).fill(300))
  await ctx.settle()
  ctx.clock.advance(10_000)
  expect(await signInFloorMs(ctx)).toBe(0)
})

test('L27 addresses without an account wait in the line of imported hashes as often as accounts do, each always in the same line', async () => {
  const nobodys = Array.from({ length: 1_000 }, (_, n) => `nobody-${n}@example.test`)
  const linesOf = () => nobodys.map((key) => waitsAsForeign(ctx, key))
  await signInFloorMs(ctx)
  expect(linesOf()).not.toContain(true)
  await givenForeigner()
  for (let n = 0; n < 3; n++) await givenUser(ctx)
  await ctx.db.$executeRaw`ANALYZE users`
  ctx.clock.advance(10_000)
  await signInFloorMs(ctx)
  const share = ((await countForeignHashes(ctx)) ?? 0) / (await ctx.db.user.count())
  expect(ctx.process.signInFloor.foreignShare).toBeCloseTo(share)
  const lines = linesOf()
  expect(lines.filter(Boolean).length / lines.length).toBeCloseTo(share, 1)
  expect(linesOf()).toEqual(lines)

  const { passwords } = ctx
  const foreignFlags: (boolean | undefined)[] = []
  ctx.passwords = {
    ...passwords,
    async verify(_hash, _password, options) {
      foreignFlags.push(options?.isForeign)
      return false
    },
  }
  for (const email of nobodys.slice(0, 10)) await signInAs(ctx, { email, password: 'x' })
  expect(foreignFlags).toEqual(lines.slice(0, 10))
})

test('each kind of imported hash is found, and all imported hashes are counted', async () => {
  const oneOfEach = [...Map.groupBy(foreignPasswords, ({ given }) => given.format).values()].map(([first]) => first)
  for (const fixture of [...oneOfEach, BCRYPT]) await givenForeigner(fixture)
  const kinds = (await ctx.sql(listForeignKinds, {})).map(({ kind }) => kind)
  expect(new Set(kinds).size).toBe(kinds.length)
  expect(kinds).toContain('$2b$10')
  expect(kinds).toContain('$scrypt-better-auth$ln=14,r=16,p=1')
  expect(kinds.every((kind) => /^\$?[a-z0-9-_]+\$[a-z0-9=,$]+$/.test(kind))).toBe(true)
  expect(await countForeignHashes(ctx)).toBe(oneOfEach.length + 1)
})

test('a hash of an unknown scheme does not keep others from signing in', async () => {
  const [user, broken] = [await givenUser(ctx), await givenUser(ctx)]
  await ctx.db.user.update({ where: { id: broken.userId }, data: { passwordHash: 'none' } })
  ctx.clock.advance(10_000)
  expect(await signInAs(ctx, user)).toMatchObject({ userId: user.userId })
})
