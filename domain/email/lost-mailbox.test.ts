import { beforeEach, describe, expect, test } from 'vitest'
import { chooseAccountLanguage } from '@/domain/accounts/choose-language'
import { setEmail } from '@/domain/accounts/set-email'
import { createUser } from '@/domain/accounts/user'
import { changePassword } from '@/domain/passwords/change-password'
import { createAccessToken } from '@/domain/sessions/access-tokens'
import { exportData } from '@/domain/withdrawal/export-data'
import { showUser } from '@/domain/withdrawal/show-account'
import { signInFromNew, templatesTo } from '@/testing/account'
import { type Caller, call, day, hour } from '@/testing/api-calls'
import { givenCaller, givenChange, givenServiceOf, givenServiceToken } from '@/testing/callers'
import { asUser, givenSession, pass, runDueWork } from '@/testing/domain'
import { linksTo, linkTo, move, redeem } from '@/testing/not-me'
import { outcomeOf } from '@/testing/outcomes'
import { emailOf, givenService, mailsTo, type Service } from '@/testing/service'

/** The support of the adopter: its service, or its operator at the command. */
async function givenSupport(ctx: Service, owner: Caller) {
  const service = await givenServiceOf(ctx, owner)
  return {
    put: (body: object) => service('putUser', body),
    withdraw: (body: object) => service('withdrawUser', body),
    version: async () => Number((await service('getUser')).data.version),
  }
}

const stateOf = async (ctx: Service, userId: string) => ({
  user: await ctx.db.user.findUniqueOrThrow({ where: { id: userId } }),
  changes: await ctx.db.emailChangeRequest.findMany({ where: { userId }, orderBy: { id: 'asc' } }),
  notices: await ctx.db.notice.count({ where: { userId } }),
  audited: await ctx.db.auditEvent.count({ where: { userId } }),
})

let ctx: Service
let owner: Caller
let support: Awaited<ReturnType<typeof givenSupport>>

beforeEach(async () => {
  ctx = await givenService()
  owner = await givenCaller(ctx)
  support = await givenSupport(ctx, owner)
})

describe('an old mailbox that is lost', () => {
  test('B50 cannot take the account back from support, by its new link or by any earlier one', async () => {
    await move(ctx, owner, `lost-${owner.email}`)
    await givenChange(ctx, owner, `pending-${owner.email}`)
    const to = `safe-${owner.email}`
    const { data } = await support.put({ email: to, old_mailbox: 'lost' })
    expect(data).toMatchObject({ email: to, email_verified: true })
    await ctx.settle()
    const links = [owner.email, `lost-${owner.email}`].flatMap((address) => linksTo(ctx, address))
    expect(links.length).toBeGreaterThanOrEqual(3)
    for (const link of links) expect((await redeem(link)).code).toBe('EMAIL_006')
    expect(await emailOf(ctx, owner)).toBe(to)
  })

  test('B50 does not take it back by a press at the same moment, whichever comes first', async () => {
    const codes = new Set<string>()
    for (let round = 0; round < 16; round++) {
      const owner = await givenCaller(ctx)
      const { put } = await givenSupport(ctx, owner)
      await move(ctx, owner, `thief-${owner.email}`)
      const link = linkTo(ctx, owner.email)
      const email = `safe-${owner.email}`
      const calls = [() => put({ email, old_mailbox: 'lost' }), () => redeem(link)]
      const answers = await Promise.all((round % 2 ? calls : calls.toReversed()).map((make) => make()))
      for (const { code } of answers) codes.add(code)
      expect(await emailOf(ctx, owner)).toBe(email)
      await ctx.settle()
    }
    expect([...codes].toSorted()).toEqual(['EMAIL_006', 'accepted'])
  })

  test('B50 gets a letter without a link and with the new address masked, also when it is sent later', async () => {
    for (const accepts of [true, false]) {
      const owner = await givenCaller(ctx)
      const { put } = await givenSupport(ctx, owner)
      ctx.mailServer.accepts = accepts
      const to = `safe-${owner.email}`
      expect((await put({ email: to, old_mailbox: 'lost' })).code).toBe('accepted')
      await ctx.settle()
      ctx.mailServer.accepts = true
      await pass(ctx, hour)
      const letters = mailsTo(ctx, owner.email)
      expect(letters).toMatchObject([{ message: { template: 'email-changed-unproven', oldEmail: owner.email } }])
      expect(JSON.stringify(letters)).not.toMatch(/Ada|192\.0\.2\.|token=/)
      expect(JSON.stringify(letters)).not.toContain(to)
      expect(mailsTo(ctx, to, 'email-changed')[0]?.message).toMatchObject({ newEmail: to, notMe: null })
    }
  })

  test('B50 frees every address that was held, and the same call again has no second effect', async () => {
    await move(ctx, owner, `lost-${owner.email}`)
    const body = { email: `safe-${owner.email}`, old_mailbox: 'lost' }
    expect((await support.put(body)).code).toBe('accepted')
    const before = await stateOf(ctx, owner.userId)
    expect((await support.put(body)).status).toBe(200)
    expect(await stateOf(ctx, owner.userId)).toEqual(before)
    for (const email of [owner.email, `lost-${owner.email}`]) {
      const stranger = { email, password: 'a long password', name: 'Grace', emailVerified: true }
      expect(await outcomeOf(createUser(ctx, stranger))).toBe('accepted')
    }
  })

  test('B50 no notice of a deletion goes to a lost old mailbox', async () => {
    const email = `safe-${owner.email}`
    await support.put({ email, old_mailbox: 'lost' })
    await ctx.settle()
    const before = mailsTo(ctx, owner.email).length
    const body = { confirmation: 'DELETE_MY_ACCOUNT', requested_by: 'support' }
    expect((await support.withdraw(body)).code).toBe('accepted')
    await ctx.settle()
    expect(mailsTo(ctx, email, 'account-withdrawal-started')).toHaveLength(1)
    expect(mailsTo(ctx, owner.email)).toHaveLength(before)
  })

  test('B50 loses its links also when support says so after it has replaced the address', async () => {
    const email = `safe-${owner.email}`
    await support.put({ email })
    await ctx.settle()
    expect((await support.put({ email, old_mailbox: 'lost' })).code).toBe('accepted')
    for (const link of linksTo(ctx, owner.email)) expect((await redeem(link)).code).toBe('EMAIL_006')
    const where = { userId: owner.userId, action: 'email.old_mailbox_lost' }
    expect(await ctx.db.auditEvent.findMany({ where })).toMatchObject([{ actor: 'service' }])
    const shown = await showUser(ctx, { userId: owner.userId })
    expect(shown.old_mailbox_lost_at).toBe(ctx.clock.now().toISOString())
  })

  test('B50 hears nothing of a request whose letter still waited when support said so', async () => {
    const { send } = ctx.mail
    ctx.mail.send = async (mail) => (mail.to === owner.email ? 'deferred' : send(mail))
    await givenChange(ctx, owner, `wanted-${owner.email}`)
    await support.put({ email: `safe-${owner.email}`, old_mailbox: 'lost' })
    await ctx.settle()
    ctx.mail.send = send
    await pass(ctx, hour)
    expect(templatesTo(ctx, owner.email)).toEqual(['email-changed-unproven'])
  })

  const withSession = async (of: Caller) => asUser(ctx, { ...of, sessionId: await givenSession(ctx, of.userId) })
  const exported = async (of: Caller) => exportData(await withSession(of), { userId: of.userId })
  const newToken = async (of: Caller) => {
    const input = { name: 'Nightly export', scopes: ['account:manage' as const], expires_in_days: 30 }
    return createAccessToken(await withSession(of), { userId: of.userId, ...input })
  }
  const newPassword = async ({ userId, ...of }: Caller) => {
    const input = { current_password: of.password, new_password: 'staple carries a lantern' }
    return changePassword(await withSession({ userId, ...of }), { userId, ...input })
  }

  test.each<[string, (of: Caller) => Promise<unknown>]>([
    ['password_changed', newPassword],
    ['data_exported', exported],
    ['access_token_created', newToken],
    ['new_device', (of) => signInFromNew(ctx, of, 1)],
    ['new_devices', (of) => signInFromNew(ctx, of, 4)],
    ['email_reverted', (of) => redeem(linkTo(ctx, of.email))],
    ['email_changed', () => support.put({ email: `lost-${owner.email}` })],
  ])('B115 gets no letter of the kind %s that still waited when support said so', async (kind, cause) => {
    for (const isSaidAtOnce of [true, false]) {
      owner = await givenCaller(ctx)
      support = await givenSupport(ctx, owner)
      if (kind === 'email_reverted') await move(ctx, owner, `thief-${owner.email}`)
      ctx.mailServer.accepts = false
      await cause(owner)
      await ctx.settle()
      const waiting = await ctx.db.notice.findMany({ where: { userId: owner.userId, dueAt: { not: null } } })
      expect(waiting.map((notice) => notice.kind)).toContain(kind)
      const lost = await emailOf(ctx, owner)
      const before = mailsTo(ctx, lost).length
      const email = `safe-${owner.email}`
      if (!isSaidAtOnce) {
        await support.put({ email })
        await exported(owner)
      }
      expect((await support.put({ email, old_mailbox: 'lost' })).code).toBe('accepted')
      await ctx.settle()
      ctx.mailServer.accepts = true
      await pass(ctx, 2 * day)
      expect(templatesTo(ctx, lost).slice(before)).toEqual(['email-changed-unproven'])
      const toSafe = isSaidAtOnce ? ['email-changed'] : ['data-exported', 'email-changed']
      expect(templatesTo(ctx, email).toSorted()).toEqual(toSafe)
    }
  })

  test('B115 gets its letters again once the account has its address again', async () => {
    const email = `safe-${owner.email}`
    await support.put({ email, old_mailbox: 'lost' })
    await support.put({ email: owner.email })
    ctx.mailServer.accepts = false
    await newPassword(owner)
    await support.put({ email })
    await ctx.settle()
    ctx.mailServer.accepts = true
    await pass(ctx, hour)
    expect(templatesTo(ctx, owner.email)).toEqual(expect.arrayContaining(['password-changed', 'email-changed']))
  })

  test('B50 a later change by the person can be undone from the address that support gave', async () => {
    const safe = `safe-${owner.email}`
    await support.put({ email: safe, old_mailbox: 'lost' })
    await ctx.settle()
    await move(ctx, owner, `thief-${owner.email}`)
    const link = linkTo(ctx, safe)
    expect((await redeem(link)).data).toMatchObject({ status: 'reverted', email: safe })
  })

  test('B50 the API explains that old_mailbox needs a new email', async () => {
    for (const body of [{ old_mailbox: 'lost' }, { email: `x-${owner.email}`, old_mailbox: 'full' }]) {
      const details = expect.stringMatching(/old_mailbox/)
      expect(await support.put(body)).toMatchObject({ status: 400, code: 'REQUEST_001', details })
    }
    const token = await givenServiceToken(ctx)
    const body = { email: `y-${owner.email}`, name: 'Grace', old_mailbox: 'lost' }
    const created = await call(token, 'putUser', { ids: { externalId: `new-${owner.email}` }, body })
    expect(created.code).toBe('REQUEST_001')
    expect(await emailOf(ctx, owner)).toBe(owner.email)
  })

  test('B50 is lost for the operator command too, whose change is audited as the operator’s', async () => {
    await move(ctx, owner, `lost-${owner.email}`)
    const email = `safe-${owner.email}`
    const data = await setEmail(ctx, { userId: owner.userId, email, oldMailbox: 'lost' })
    expect(data).toMatchObject({ user_id: owner.userId, email, email_verified: true })
    await runDueWork(ctx)
    for (const address of [owner.email, `lost-${owner.email}`]) {
      for (const link of linksTo(ctx, address)) expect((await redeem(link)).code).toBe('EMAIL_006')
    }
    expect(mailsTo(ctx, `lost-${owner.email}`, 'email-changed-unproven')).toHaveLength(1)
    expect(mailsTo(ctx, email, 'email-changed')).toHaveLength(1)
    const action = { in: ['email.changed', 'email.old_mailbox_lost'] }
    const where = { userId: owner.userId, actor: 'operator', action }
    expect(await ctx.db.auditEvent.count({ where })).toBe(2)
  })
})

describe('if_version', () => {
  test('B51 a late PUT does not bring a thief’s address back after the owner’s undo', async () => {
    const thief = `thief-${owner.email}`
    await move(ctx, owner, thief)
    const seen = await support.version()
    expect((await redeem(linkTo(ctx, owner.email))).code).toBe('accepted')
    const late = await support.put({ email: thief, if_version: seen })
    expect([late.status, late.code]).toEqual([409, 'USER_003'])
    expect(late.details).toContain(String(await support.version()))
    expect(await emailOf(ctx, owner)).toBe(owner.email)
  })

  test('B51 an older version changes nothing, the present one does, and a call that would change nothing is accepted', async () => {
    const seen = await support.version()
    for (const body of [{ name: 'Grace' }, { locale: 'de' }, { email: `new-${owner.email}`, old_mailbox: 'lost' }]) {
      const before = await stateOf(ctx, owner.userId)
      for (const if_version of [seen - 1, seen + 1])
        expect((await support.put({ ...body, if_version })).code).toBe('USER_003')
      expect(await stateOf(ctx, owner.userId)).toEqual(before)
    }
    const { data } = await support.put({ name: 'Grace', if_version: seen })
    expect(data).toMatchObject({ name: 'Grace', version: seen + 1 })
    expect((await support.put({ name: 'Grace', if_version: seen })).status).toBe(200)
    expect((await support.put({ name: 'Grace', if_version: '1' })).code).toBe('REQUEST_001')
    const of = { userId: owner.userId, email: `new-${owner.email}`, ifVersion: seen }
    expect(await outcomeOf(setEmail(ctx, of))).toBe('USER_003')
  })

  test('B51 a late PUT does not take back the language that the person has chosen since', async () => {
    const caller = await asUser(ctx, owner)
    await support.put({ locale: 'en' })
    const seen = await support.version()
    await chooseAccountLanguage(caller, 'de')
    expect((await support.put({ locale: 'en', if_version: seen })).code).toBe('USER_003')
    const chosen = await stateOf(ctx, owner.userId)
    expect(chosen.user.locale).toBe('de')
    await chooseAccountLanguage(caller, 'de')
    expect(await stateOf(ctx, owner.userId)).toEqual(chosen)
  })

  test('B51 one of many concurrent calls with one version has an effect', async () => {
    const if_version = await support.version()
    const calls = Array.from({ length: 20 }, (_, n) => support.put({ name: `Name ${n}`, if_version }))
    const codes = (await Promise.all(calls)).map(({ code }) => code)
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(1)
    expect(new Set(codes)).toEqual(new Set(['accepted', 'USER_003']))
    expect(await support.version()).toBe(if_version + 1)
  })

  test('B51 an account that is not there has no version: nothing is created', async () => {
    const token = await givenServiceToken(ctx)
    const body = { email: `nobody-${Date.now()}@example.test`, name: 'Grace', if_version: 0 }
    expect((await call(token, 'putUser', { ids: { externalId: 'nobody' }, body })).code).toBe('USER_001')
    expect(await ctx.db.user.count({ where: { externalId: 'nobody' } })).toBe(0)
  })
})
