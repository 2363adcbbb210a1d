import { beforeEach, describe, expect, test } from 'vitest'
import { setEmail } from '@/domain/accounts/set-email'
import { createUser } from '@/domain/accounts/user'
import { createNotMeToken } from '@/domain/email/not-me-token'
import { resetPassword, templatesTo } from '@/testing/account'
import { type Caller, day, hour, minute, verify, withdraw } from '@/testing/api-calls'
import { givenCaller, givenChange, givenServiceOf } from '@/testing/callers'
import { pass, runDueWork } from '@/testing/domain'
import { linksTo, linkTo, move, read, redeem } from '@/testing/not-me'
import { outcomeOf } from '@/testing/outcomes'
import { emailOf, givenService, mailsTo, type Service } from '@/testing/service'

/** Each way to another address; returns the id of its change. */
const WAYS: Record<string, (ctx: Service, owner: Caller, to: string) => Promise<string>> = {
  'the person verifies': move,
  'the person only asks for': async (ctx, owner, to) => (await givenChange(ctx, owner, to)).id,
  async 'a service puts'(ctx, owner, email) {
    const service = await givenServiceOf(ctx, owner)
    expect((await service('putUser', { email })).code).toBe('accepted')
    return newestChange(ctx, owner)
  },
  async 'the operator sets'(ctx, owner, email) {
    await setEmail(ctx, { userId: owner.userId, email })
    await runDueWork(ctx)
    return newestChange(ctx, owner)
  },
}

async function newestChange(ctx: Service, { userId }: Caller) {
  const [change] = await ctx.db.emailChangeRequest.findMany({ where: { userId }, orderBy: { requestedAt: 'desc' } })
  return change?.id ?? ''
}

/** Also for a link that a release before this rule has mailed. */
const linkOf = (ctx: Service, id: string) => ({ id, token: createNotMeToken(ctx, id) })
const setVerified = (ctx: Service, { userId: id }: Caller, emailVerifiedAt: Date | null) =>
  ctx.db.user.update({ where: { id }, data: { emailVerifiedAt } })
const userOf = (ctx: Service, { userId: id }: Caller) => ctx.db.user.findUniqueOrThrow({ where: { id } })

let ctx: Service
let owner: Caller
let right: string

beforeEach(async () => {
  ctx = await givenService()
  owner = await givenCaller(ctx)
  right = `right-${owner.email}`
  await setVerified(ctx, owner, null)
})

test('a notice of a requested change that waits is sent although the address got other letters meanwhile', async () => {
  await setVerified(ctx, owner, ctx.clock.now())
  await givenChange(ctx, owner, right)
  const waits = { sentAt: null, dueAt: ctx.clock.now() }
  await ctx.db.notice.updateMany({ where: { kind: 'email_change_requested', userId: owner.userId }, data: waits })
  const service = await givenServiceOf(ctx, owner)
  expect((await service('putUser', { email: owner.email.toUpperCase() })).code).toBe('accepted')
  const before = templatesTo(ctx, owner.email).length
  await pass(ctx, minute)
  expect(templatesTo(ctx, owner.email).slice(before)).toEqual(['email-change-requested'])
})

describe('an address that was never verified', () => {
  test.each(Object.keys(WAYS))('B61 undoes nothing, by no link, when its change is one that %s', async (way) => {
    const id = (await WAYS[way]?.(ctx, owner, right)) ?? ''
    const address = await emailOf(ctx, owner)
    await ctx.settle()
    ctx.clock.advance(6 * day)
    expect(linksTo(ctx, owner.email)).toEqual([])
    for (const press of [read, redeem]) expect((await press(linkOf(ctx, id))).code).toBe('EMAIL_006')
    expect(await emailOf(ctx, owner)).toBe(address)
  })

  test.each(Object.keys(WAYS))('B61 learns nothing new from a change that %s, now or from a later try', async (way) => {
    for (const accepts of [true, false]) {
      const owner = await givenCaller(ctx)
      const right = `right-${owner.email}`
      await setVerified(ctx, owner, null)
      const { send } = ctx.mail
      ctx.mail.send = async (mail) => (accepts || mail.to !== owner.email ? send(mail) : 'deferred')
      await WAYS[way]?.(ctx, owner, right)
      await ctx.settle()
      ctx.mail.send = send
      await pass(ctx, hour)
      const isChanged = (await emailOf(ctx, owner)) === right
      expect(templatesTo(ctx, owner.email)).toEqual(isChanged ? ['email-changed-unproven'] : [])
      expect(JSON.stringify(mailsTo(ctx, owner.email))).not.toMatch(/Ada|192\.0\.2\.|token=/)
      expect(JSON.stringify(mailsTo(ctx, owner.email))).not.toContain(right)
      if (isChanged) expect(mailsTo(ctx, right, 'email-changed')).toHaveLength(1)
    }
  })

  test('B61 is told of no deletion, while a verified one between it and the present one is', async () => {
    await move(ctx, owner, right)
    await move(ctx, owner, `last-${owner.email}`)
    const before = templatesTo(ctx, owner.email)
    expect((await withdraw(owner)).status).toBe(202)
    await ctx.settle()
    expect(templatesTo(ctx, owner.email)).toEqual(before)
    expect(mailsTo(ctx, right, 'account-withdrawal-told')).toHaveLength(1)
  })

  test('B61 does not come back by the link of a verified address that replaced it', async () => {
    const first = await move(ctx, owner, right)
    await move(ctx, owner, `thief-${owner.email}`)
    expect((await redeem(linkTo(ctx, right))).data).toMatchObject({ status: 'reverted', email: right })
    expect((await redeem(linkOf(ctx, first))).code).toBe('EMAIL_006')
    expect(await emailOf(ctx, owner)).toBe(right)
  })

  test('B61 is held for its account all the same', async () => {
    await move(ctx, owner, right)
    const stranger = { email: owner.email, password: 'a long password', name: 'Grace', emailVerified: true }
    expect(await outcomeOf(createUser(ctx, stranger))).toBe('EMAIL_002')
    ctx.clock.advance(7 * day)
    expect(await outcomeOf(createUser(ctx, stranger))).toBe('accepted')
  })

  test('B61 counts as the person’s from the moment on that a code or a reset link proves it', async () => {
    const proofs: Record<string, (owner: Caller) => Promise<unknown>> = {
      async 'a code'(owner) {
        const { id, code } = await givenChange(ctx, owner, owner.email)
        expect((await verify(owner, id, code)).code).toBe('accepted')
      },
      'a reset link': (owner) => resetPassword(ctx, owner, 'a password of the reader'),
    }
    for (const [what, prove] of Object.entries(proofs)) {
      const owner = await givenCaller(ctx)
      await setVerified(ctx, owner, null)
      const { version } = await userOf(ctx, owner)
      await prove(owner)
      const proven = await userOf(ctx, owner)
      expect([what, proven.emailVerifiedAt]).toEqual([what, ctx.clock.now()])
      expect(proven.version).toBeGreaterThan(version)
      await setEmail(ctx, { userId: owner.userId, email: `later-${owner.email}` })
      await runDueWork(ctx)
      expect((await redeem(linkTo(ctx, owner.email))).code).toBe('accepted')
      expect(await emailOf(ctx, owner)).toBe(owner.email)
    }
  })

  test('a reset link leaves the time at which a verified address was verified', async () => {
    const at = new Date(ctx.clock.now().getTime() - minute)
    await setVerified(ctx, owner, at)
    await resetPassword(ctx, owner, 'a password of the reader')
    expect((await userOf(ctx, owner)).emailVerifiedAt).toEqual(at)
  })
})
