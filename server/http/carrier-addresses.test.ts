import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { lookUp } from '@/domain/accounts/look-up'
import { setEmail } from '@/domain/accounts/set-email'
import { createUser } from '@/domain/accounts/user'
import { signIn } from '@/domain/passwords/sign-in'
import { resetTokenTo } from '@/testing/account'
import { type Caller, call, change, verify, withdraw } from '@/testing/api-calls'
import { callerOf, givenCaller, givenChange, givenServiceToken } from '@/testing/callers'
import { linkTo, MINE, move, redeem } from '@/testing/not-me'
import { outcomeOf } from '@/testing/outcomes'
import { givenService, mailsTo, type Service } from '@/testing/service'

/** Two dots in a row, and one before the @. */
const newAddress = () => `Ada..${randomBytes(6).toString('hex')}.@docomo.ne.jp`

let ctx: Service
let service: { userId: string; token: string }

beforeEach(async () => {
  ctx = await givenService()
  service = await givenServiceToken(ctx)
})

const signInAs = (email: string, password: string) =>
  signIn(ctx, { email, password, userAgent: 'test', ip: '192.0.2.1' })

const PASSWORD = { format: 'bcrypt', value: `$2b$04$${'.'.repeat(53)}` }

/** A person whom the adopter's service has brought. */
async function givenPerson(more: object = {}) {
  const [externalId, email] = [`customer-${randomBytes(6).toString('hex')}`, newAddress()]
  const body = { email, email_verified: true, name: 'Ada', password: PASSWORD, ...more }
  const { data, code } = await call(service, 'putUser', { ids: { externalId }, body })
  expect(code).toBe('accepted')
  return { externalId, userId: String(data.user_id), email }
}

const bodyOf = (email: string) => ({ body: { email }, token: null })

/** The person sets a password by the link that is mailed to the address, and signs in with it. */
async function resetPassword(person: { userId: string; email: string }): Promise<Caller> {
  const { email } = person
  expect((await call(service, 'requestPasswordReset', bodyOf(email))).status).toBe(202)
  await ctx.settle()
  const token = resetTokenTo(ctx, email)
  expect((await call({ userId: '', token }, 'confirmPasswordReset', { body: { new_password: MINE } })).code).toBe(
    'accepted',
  )
  await ctx.settle()
  return callerOf(ctx, person, MINE)
}

test('B132 a person with an address of a Japanese carrier is found, resets the password, signs in and withdraws', async () => {
  const person = await givenPerson()
  const query = `?email=${encodeURIComponent(person.email.toLowerCase())}`
  expect((await call(service, 'findUser', { query })).data).toMatchObject({
    user_id: person.userId,
    email: person.email,
  })
  expect(await lookUp(ctx, person.email)).toEqual({ kind: 'user', id: person.userId })
  const caller = await resetPassword(person)
  const session = await signInAs(person.email, MINE)
  expect(session).toMatchObject({ userId: person.userId })
  expect((await call(service, 'requestWithdrawal', bodyOf(person.email))).status).toBe(202)
  await ctx.settle()
  expect(mailsTo(ctx, person.email, 'withdrawal-requested')).toHaveLength(1)
  expect((await withdraw(caller)).status).toBe(202)
})

test('B132 such a person changes the address, and the link to the old one brings it back', async () => {
  const person = await givenPerson()
  const caller = await resetPassword(person)
  await move(ctx, caller, `new-${person.externalId}@example.test`)
  const { code, data } = await redeem(linkTo(ctx, person.email), { body: { new_password: `${MINE} 2` } })
  expect([code, data.email]).toEqual(['accepted', person.email])
  expect(await signInAs(person.email, `${MINE} 2`)).not.toBeNull()
})

test('B132 such an address that is not verified is verified by its person', async () => {
  const person = await givenPerson({ email_verified: false })
  const caller = await resetPassword(person)
  await ctx.db.user.update({ where: { id: person.userId }, data: { emailVerifiedAt: null } })
  const { id, code } = await givenChange(ctx, caller, person.email)
  expect((await verify(caller, id, code)).code).toBe('accepted')
  expect((await call(caller, 'getEmailStatus')).data).toMatchObject({
    current_email: person.email,
    email_verified: true,
  })
})

test('B132 nobody chooses such an address: not a person, nor an operator for somebody', async () => {
  const caller = await givenCaller(ctx)
  expect((await change(caller, newAddress())).code).toBe('EMAIL_001')
  expect(
    (await ctx.db.rateLimit.findMany({ where: { key: { contains: caller.userId } } })).map(({ key }) => key),
  ).toEqual([])
  const wanted = { email: newAddress(), password: MINE, name: 'Ada', emailVerified: true }
  expect(await outcomeOf(createUser(ctx, wanted))).toBe('EMAIL_001')
  expect(await outcomeOf(setEmail(ctx, { userId: caller.userId, email: newAddress() }))).toBe('EMAIL_001')
})
