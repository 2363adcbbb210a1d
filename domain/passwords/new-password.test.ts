import { beforeEach, expect, test } from 'vitest'
import { commonPasswords } from '@/contract/guessable-password'
import { givenPendingChange, resetPassword, signInAs } from '@/testing/account'
import { asNobody, asUser, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import { createUser, setPassword } from '../accounts/user'
import { createNotMeToken } from '../email/not-me-token'
import { undoEmailChange } from '../email/undo-email-change'
import { changePassword } from './change-password'
import { requireGoodPassword } from './new-password'

const ADA = { name: 'Ada  Lovelace', email: 'ada.lovelace@example.test' }

let ctx: TestContext
let user: TestUser

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
})

const sentenceOf = async (password: string) => {
  try {
    await requireGoodPassword(ctx, password, ADA)
  } catch (error) {
    return (error as { details: string }).details
  }
  return 'taken'
}

/** Every way to set a password, and how it answers. */
const WAYS: Record<string, (user: TestUser, password: string) => Promise<unknown>> = {
  create: ({ email }, password) =>
    createUser(ctx, { email: `other-${email}`, password, name: 'Ada Lovelace', emailVerified: true }),
  change: async (user, new_password) =>
    changePassword(await asUser(ctx, user), { userId: user.userId, current_password: user.password, new_password }),
  reset: (user, password) => resetPassword(ctx, user, password),
  async undo(user, new_password) {
    const { change_request_id: changeRequestId } = await givenPendingChange(ctx, user)
    const token = createNotMeToken(ctx, changeRequestId)
    return undoEmailChange(asNobody(ctx, token), { changeRequestId, new_password })
  },
  command: ({ userId }, password) => setPassword(ctx, { userId, password }),
}

test.each(Object.entries(WAYS))(
  'B80 %s refuses a common password, a word of the account and a breached one, and takes any other',
  async (_way, set) => {
    ctx.newPasswords.breaches = { has: async (password) => password === 'stolen from somebody' }
    for (const password of ['PASSWORD', '12345678', 'adalovelace', 'stolen from somebody', 'e\u0301'.repeat(4)]) {
      const outcome = await outcomeOf(set(await givenUser(ctx), password))
      expect({ password, outcome }).toEqual({ password, outcome: 'PASSWORD_001' })
    }
    expect(await outcomeOf(set(user, 'staple carries a lantern'))).toBe('accepted')
  },
)

test('a password is refused with a sentence that says why', async () => {
  ctx.newPasswords = { ...ctx.newPasswords, minLength: 12, product: 'Acme Garden Tools' }
  const length = 'new_password must have 12 to 256 characters.'
  const word = expect.stringContaining('is a name or an address')
  for (const [password, sentence] of [
    ['eleven char', length],
    ['🔑'.repeat(11), length],
    ['🔑'.repeat(257), length],
    // One character becomes eighteen.
    ['ﷺ'.repeat(15), length],
    ['Qwertyuiop123', expect.stringContaining('most used passwords')],
    // Full-width letters are the same letters.
    ['ｑｗｅｒｔｙｕｉｏｐ１２３', expect.stringContaining('most used passwords')],
    ['ada lovelace', word],
    ['ＡＤＡ　ＬＯＶＥＬＡＣＥ', word],
    ['Ada.Lovelace', word],
    ['ada.lovelace@EXAMPLE.test', word],
    ['acmegardentools', word],
    ['🔑'.repeat(256), 'taken'],
    ['Ada Lovelace carries a lantern', 'taken'],
  ] as const) {
    expect({ password, sentence: await sentenceOf(password) }).toEqual({ password, sentence })
  }
})

test('at least 3,000 of the listed passwords are long enough to be chosen', async () => {
  const common = [...(await commonPasswords())]
  expect(common.filter((password) => [...password].length >= 8).length).toBeGreaterThanOrEqual(3_000)
  expect(common.every((password) => password === password.normalize('NFKC').toLowerCase())).toBe(true)
})

test('B82 without an answer of the list of breaches the password is taken, and the operator is warned', async () => {
  ctx.newPasswords.breaches = { has: async () => null }
  expect(await sentenceOf('staple carries a lantern')).toBe('taken')
  expect(ctx.warnings).toEqual([{ event: 'breached_passwords_away' }])
})

const [COMPOSED, DECOMPOSED] = ['pässwörd für ada'.normalize('NFC'), 'pässwörd für ada'.normalize('NFD')]
const signInWith = (password: string) => signInAs(ctx, { ...user, password })

test('B81 a password opens however a device composes its characters, the present one included', async () => {
  await setPassword(ctx, { userId: user.userId, password: DECOMPOSED })
  for (const password of [COMPOSED, DECOMPOSED]) {
    expect(await signInWith(password)).toMatchObject({ userId: user.userId })
  }
  const signedIn = { ...user, sessionId: (await signInWith(COMPOSED))?.sessionId ?? '' }
  const input = { userId: user.userId, current_password: COMPOSED, new_password: DECOMPOSED }
  await expect(changePassword(await asUser(ctx, signedIn), input)).rejects.toMatchObject({
    code: 'PASSWORD_001',
    details: expect.stringContaining('current password'),
  })
})

test('B81 a hash of what was typed opens until it is renewed, and then for every device', async () => {
  const { hash } = await import('@node-rs/argon2')
  const ofRaw = await hash(DECOMPOSED, { memoryCost: 12_288, timeCost: 3, parallelism: 1 })
  const store = (passwordHash: string) => ctx.db.user.update({ where: { id: user.userId }, data: { passwordHash } })
  const stored = async () => (await ctx.db.user.findUniqueOrThrow({ where: { id: user.userId } })).passwordHash
  const { hash: bcrypt } = await import('bcryptjs')
  for (const passwordHash of [ofRaw, await bcrypt(DECOMPOSED, 4)]) {
    await store(passwordHash)
    expect(await signInWith(COMPOSED)).toBeNull()
    expect(await signInWith(DECOMPOSED)).toMatchObject({ userId: user.userId })
    await ctx.settle()
    expect(await stored()).not.toBe(passwordHash)
    expect(await signInWith(COMPOSED)).toMatchObject({ userId: user.userId })
  }
  const renewed = await stored()
  expect(await signInWith(DECOMPOSED)).toMatchObject({ userId: user.userId })
  await ctx.settle()
  expect(await stored()).toBe(renewed)
})

test('B81 an imported hash of a common password opens, and is not judged', async () => {
  const { hash } = await import('bcryptjs')
  await ctx.db.user.update({ where: { id: user.userId }, data: { passwordHash: await hash('password', 4) } })
  for (let time = 0; time < 2; time++) {
    expect(await signInWith('password')).toMatchObject({ userId: user.userId })
    await ctx.settle()
  }
})
