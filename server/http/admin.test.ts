import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { SERVICE_SCOPES, type ServiceScope } from '@/contract/define'
import { adminOperations, userOperations } from '@/contract/operations'
import { setRole } from '@/domain/accounts/operators'
import { setApp } from '@/domain/applications/manage'
import { addTransaction } from '@/domain/applications/transactions'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { revokeServiceToken } from '@/domain/sessions/service-tokens'
import { replayErasureLedger } from '@/domain/withdrawal/replay-erasure-ledger'
import { type Answer, type Asking, call, day, minute, verify, withdraw } from '@/testing/api-calls'
import { callerOf, givenCaller, givenChange, givenServiceToken, givenToken } from '@/testing/callers'
import { givenSession, PAGE_ORIGIN, runDueWork, type TestContext } from '@/testing/domain'
import { installed, logged } from '@/testing/install-context'
import { heldUp, tablesWith, tally } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { acceptOutsideToken, OUTSIDE_TOKEN, trustIssuer } from '@/testing/service'
import { givenParticipant, givenWithdrawal, ledgerLines } from '@/testing/withdrawals'

/** The hash of a password that nobody knows, in our own format. */
const HASH = '$argon2id$v=19$m=12288,t=3,p=1$42a420T/Xlspq9SkWkMikQ$EfitoyZ6qJBV9ad4J2XGRCMwewu7Dg+nj/T+uj5DOL0'

let ctx: TestContext
let service: { id: string; userId: string; token: string }

beforeEach(async () => {
  ctx = await installed()
  service = await givenServiceToken(ctx)
})

const unique = () => randomBytes(6).toString('hex')
const newId = () => `customer/${unique()} ~é`
const newAddress = () => `ada-${unique()}@example.test`
const byService = (operation: string, externalId: string, asking: Asking = {}) =>
  call(service, operation, { ids: { externalId: encodeURIComponent(externalId) }, ...asking })
const put = (externalId: string, body: object) => byService('putUser', externalId, { body })
const get = (externalId: string) => byService('getUser', externalId)
const find = (email: string) => call(service, 'findUser', { query: `?email=${encodeURIComponent(email)}` })
const withdrawFor = (externalId: string, body: object = {}) =>
  byService('withdrawUser', externalId, {
    body: { confirmation: 'DELETE_MY_ACCOUNT', requested_by: 'support 4711', ...body },
  })

interface Person {
  externalId: string
  userId: string
  email: string
}

/** An account that the adopter's service has created. */
async function givenPerson(more: object = {}): Promise<Person> {
  const [externalId, email] = [newId(), newAddress()]
  const { data, code } = await put(externalId, { email, name: 'Ada', email_verified: true, ...more })
  expect(code).toBe('accepted')
  return { externalId, userId: String(data.user_id), email }
}

/** An open task of another person's withdrawal. */
async function givenOpenTask() {
  const { withdrawalId } = await givenWithdrawal(ctx, ['shop'])
  return ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId } })
}

const stateOf = async (userId: string) => ({
  user: await ctx.db.user.findUniqueOrThrow({ where: { id: userId } }),
  audits: (await ctx.db.auditEvent.findMany({ where: { userId }, orderBy: { at: 'asc' } })).map(({ action }) => action),
  changes: await ctx.db.emailChangeRequest.count({ where: { userId } }),
})

describe('access to the admin API', () => {
  const scopes = Object.keys(SERVICE_SCOPES) as ServiceScope[]

  /** The answer of an admin operation to each kind of token. */
  async function answersByToken(
    scope: ServiceScope,
    appId: string,
  ): Promise<Record<string, [token: string | null, code: string]>> {
    const user = await givenCaller(ctx)
    const gone = await givenCaller(ctx)
    const { data } = await withdraw(gone)
    acceptOutsideToken(ctx, user)
    const revoked = await givenServiceToken(ctx)
    await revokeServiceToken(ctx, revoked.id)
    const expired = await givenServiceToken(ctx, scopes, 0, { appId })
    const others = scopes.filter((other) => other !== scope)
    const without = await givenServiceToken(ctx, others, day, scope === 'tasks:work' ? {} : { appId })
    return {
      none: [null, 'AUTH_001'],
      junk: ['svc_x', 'AUTH_001'],
      'a service token of nobody': [`svc_${'A'.repeat(43)}`, 'AUTH_001'],
      'access token': [user.token, 'AUTH_002'],
      'session token': [createSessionToken(ctx, user.sessionId).token, 'AUTH_002'],
      'outside token': [OUTSIDE_TOKEN, 'AUTH_002'],
      'status token': [String(data.status_token), 'AUTH_001'],
      'token of a withdrawn account': [gone.token, 'AUTH_001'],
      'revoked service token': [revoked.token, 'AUTH_001'],
      'expired service token': [expired.token, 'AUTH_001'],
      'service token without the scope': [without.token, 'AUTH_002'],
      'service token with another ending': [`${service.token.slice(0, -1)}-`, 'AUTH_001'],
    }
  }

  test('a path or a query with text that no database can store is refused as unknown', async () => {
    const ids = { appId: '%00', taskId: '%00', externalId: '%00', key: 'k' }
    for (const { name, example } of adminOperations) {
      const input = { ids, query: '?app=%00&email=%00', ...(example.body && { body: example.body }) }
      expect([name, (await call(service, name, input)).status]).not.toEqual([name, 500])
    }
    expect((await call(service, 'getApp', { ids })).code).toBe('REQUEST_005')
    expect((await call(service, 'listEvents', { query: '?app=%00' })).code).toBe('REQUEST_005')
  })

  test.each(adminOperations.map((contract) => [contract.name, contract] as const))(
    '%s accepts a service token with its scope, and no other token',
    async (name, { scope }) => {
      const person = await givenPerson()
      const task = await givenOpenTask()
      const { id: taskId, appId, withdrawalId } = task
      const pending = { userId: person.userId, status: 'pending', title: 'Order 7', ip: '' } as const
      // In every other row it would hold the withdrawal back.
      const transactionId = name === 'endTransaction' ? await addTransaction(ctx, pending) : ''
      const ids = { externalId: encodeURIComponent(person.externalId), taskId, appId, withdrawalId, transactionId }
      const before = await stateOf(person.userId)
      for (const [kind, [token, refusal]] of Object.entries(await answersByToken(scope, task.appId))) {
        const { code, status, headers } = await call(service, name, { ids, token })
        const lacksScope = headers.get('WWW-Authenticate')?.includes('insufficient_scope')
        const expected = refusal === 'AUTH_002' ? { status: 403, lacksScope: true } : { status: 401, lacksScope: false }
        expect({ kind, code, status, lacksScope }).toEqual({ kind, code: refusal, ...expected })
      }
      for (const wrong of [null, 'email:manage', scope.toUpperCase(), `${scope}, ${scope}`, `${scope}x`]) {
        expect((await call(service, name, { ids, scope: wrong })).code).toBe('AUTH_002')
      }
      expect(await stateOf(person.userId)).toEqual(before)
      if (name === 'takeTasks') await setApp(ctx, { appId: task.appId, endpoint: null, events: [] })
      const alone = await givenServiceToken(ctx, [scope], day, scope === 'tasks:work' ? { appId: task.appId } : {})
      const queries: Record<string, string> = { takeTasks: `?app=${task.appId}`, removeApp: '?waive=gone' }
      const query = queries[name] ?? `?email=${encodeURIComponent(person.email)}`
      const body = {
        putUser: { name: 'Ada L.' },
        withdrawUser: { confirmation: 'DELETE_MY_ACCOUNT', requested_by: 'x' },
        setApp: { name: 'Shop' },
        putBlocker: { code: 'a', title: 'b' },
        endAccountSessions: { user_id: person.userId },
        endBlocker: { user_id: person.userId, source: 'billing', key: 'invoice-4711' },
        putConnection: { subject: 'reader 7' },
        lookUp: { text: person.email },
        issuePageToken: { scopes: ['email:manage'], origin: PAGE_ORIGIN },
      }[name as string]
      expect((await call(alone, name, { ids, query, ...(body && { body }) })).code).toBe('accepted')
    },
  )

  test.each(userOperations.map((contract) => [contract.name, contract] as const))(
    '%s refuses a service token, whatever it holds and whoever is in the path',
    async (name, { forbidden }) => {
      const person = await givenPerson()
      const before = await stateOf(person.userId)
      for (const userId of [person.userId, encodeURIComponent(`~${person.externalId}`), service.id, '~']) {
        for (const asking of [{}, { scope: 'users:write' }, { scope: null }]) {
          const answer = await call(service, name, { ids: { userId }, ...asking })
          expect([name, userId, answer.code]).toEqual([name, userId, forbidden])
        }
      }
      expect(await stateOf(person.userId)).toEqual(before)
    },
  )

  test('the log names the service token by its id, and neither the external id nor the address', async () => {
    const person = await givenPerson()
    const lines = logged()
    await get(person.externalId)
    await find(person.email)
    await put(person.externalId, { name: 'Grace Canary' })
    const requests = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request')
    expect(requests.map(({ operation, actor }) => [operation, actor])).toEqual([
      ['getUser', service.id],
      ['findUser', service.id],
      ['putUser', service.id],
    ])
    const text = lines.join('\n')
    const { externalId, email } = person
    for (const secret of [externalId, encodeURIComponent(externalId), email, 'Canary', service.token])
      expect(text).not.toContain(secret)
  })

  test('only a hash of a service token is stored, with its last use to the minute', async () => {
    await get('nobody')
    await ctx.settle()
    expect(await tablesWith(ctx, service.token.slice(4))).toEqual([])
    const row = await ctx.db.serviceToken.findUniqueOrThrow({ where: { id: service.id } })
    expect(row.lastUsedAt).toEqual(ctx.clock.now())
    ctx.clock.advance(minute / 2)
    await get('nobody')
    await ctx.settle()
    expect(await ctx.db.serviceToken.findUniqueOrThrow({ where: { id: service.id } })).toEqual(row)
  })
})

describe('PUT creates', () => {
  test('an account with all given data, answers 201, and the same body again changes nothing and answers 200', async () => {
    const [externalId, email] = [newId(), newAddress()]
    const password = { format: 'argon2id', value: HASH }
    const body = { email, email_verified: true, name: 'Ada Lovelace', locale: 'pt-br', password }
    const first = await put(externalId, body)
    expect([first.status, first.data.created]).toEqual([201, true])
    const userId = String(first.data.user_id)
    const before = await stateOf(userId)
    expect(before.user).toMatchObject({ externalId, email, passwordHash: HASH, locale: 'pt-BR' })
    ctx.clock.advance(minute)
    const again = await put(externalId, body)
    expect([again.status, again.data.created, again.data.user_id]).toEqual([200, false, userId])
    expect(await stateOf(userId)).toEqual(before)
    const { data } = await get(externalId)
    expect(userId).toMatch(/^usr_[\w-]{22}$/)
    expect(data).toEqual({
      user_id: userId,
      external_id: externalId,
      email,
      email_verified: true,
      email_undeliverable: false,
      name: 'Ada Lovelace',
      locale: 'pt-BR',
      created_at: before.user.createdAt.toISOString(),
      has_password: true,
      pending_change: expect.objectContaining({ has_pending: false }),
      version: before.user.version,
      withdrawal_id: null,
    })
    expect((await find(email.toUpperCase())).data).toEqual(data)
    const [audit] = await ctx.db.auditEvent.findMany({ where: { userId } })
    expect(audit).toMatchObject({ action: 'user.created', actor: 'service', actorId: service.id })
  })

  test('an account with an unverified address and without a password, unless the body says otherwise', async () => {
    const { data } = await put(newId(), { email: newAddress(), name: 'Ada' })
    expect(data).toMatchObject({ email_verified: false, has_password: false, locale: null, created: true })
  })

  test.each([
    ['no address', { email: undefined }, 'REQUEST_001', 'email'],
    ['no name', { name: undefined }, 'REQUEST_001', 'name'],
    ['an address that is none', { email: 'ada@' }, 'EMAIL_001', 'email'],
    ['a blank name', { name: ' ' }, 'REQUEST_001', 'name'],
    ['a name of two lines', { name: 'A\nB' }, 'REQUEST_001', 'name'],
    ['text for a truth', { email_verified: 'yes' }, 'REQUEST_001', 'email_verified'],
    ['a locale that is none', { locale: 'deutsch!' }, 'REQUEST_001', 'locale'],
    ['a password of an unknown format', { password: { format: 'rot13', value: 'x' } }, 'REQUEST_001', 'password'],
    ['a password without a value', { password: { format: 'argon2id' } }, 'REQUEST_001', 'password.value'],
    ['a user_id that is none', { user_id: 'x' }, 'USER_001', ''],
  ])('nothing from %s, and says what is wrong', async (_what, wrong, code, field) => {
    const externalId = newId()
    const answer = await put(externalId, { email: newAddress(), name: 'Ada', ...wrong })
    expect(answer.code).toBe(code)
    expect(answer.details).toContain(field)
    expect((await get(externalId)).code).toBe('USER_001')
  })

  test.each([
    ['usr_abc', 'usr_'],
    ['a\nb', 'control'],
    ['a\0b', 'control'],
    ['\u0085', 'control'],
    ['é'.repeat(128), '255'],
  ])('no account for an external id such as %j, which is unknown to every other call', async (externalId, sentence) => {
    const refused = await put(externalId, { email: newAddress(), name: 'Ada' })
    expect(refused.code).toBe('REQUEST_001')
    expect(refused.details).toContain(sentence)
    expect((await get(externalId)).code).toBe('USER_001')
    expect((await byService('endUserSessions', externalId)).code).toBe('USER_001')
    expect((await withdrawFor(externalId)).code).toBe('USER_001')
  })

  test('accounts for all external ids of 255 bytes, compared byte by byte', async () => {
    const stem = unique()
    const endings = ['', 'é', 'e\u0301', 'É', ' ', '/..', '%41', 'x'.repeat(243)]
    const ids = [`~${stem}`, ...endings.map((ending) => stem + ending)]
    const users = new Set<unknown>()
    for (const externalId of ids) {
      const { data } = await put(externalId, { email: newAddress(), name: 'Ada' })
      expect((await get(externalId)).data).toMatchObject({ user_id: data.user_id, external_id: externalId })
      users.add(data.user_id)
    }
    expect(users.size).toBe(ids.length)
  })

  test('exactly one account, however many calls for one external id arrive at once', async () => {
    const [externalId, addresses] = [newId(), [newAddress(), newAddress()]]
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => put(externalId, { email: addresses[n % 2], name: 'Ada' })),
    )
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(await ctx.db.user.count({ where: { externalId } })).toBe(1)
    expect(new Set(answers.map(({ data }) => data.user_id)).size).toBe(1)
  })
})

describe('PUT updates', () => {
  test('only given fields; null clears the locale, and other nulls are refused', async () => {
    const person = await givenPerson({ locale: 'de' })
    expect((await put(person.externalId, { name: 'Grace' })).data).toMatchObject({ name: 'Grace', locale: 'de' })
    expect((await put(person.externalId, { locale: 'ja' })).data).toMatchObject({ name: 'Grace', locale: 'ja' })
    expect((await put(person.externalId, { locale: null })).data).toMatchObject({ name: 'Grace', locale: null })
    for (const member of ['email', 'email_verified', 'name', 'password', 'user_id', 'recreate']) {
      const { code, details } = await put(person.externalId, { [member]: null })
      expect([member, code, details.includes(member)]).toEqual([member, 'REQUEST_001', true])
    }
    const before = await stateOf(person.userId)
    expect((await put(person.externalId, {})).status).toBe(200)
    expect(await stateOf(person.userId)).toEqual(before)
  })

  test('an unverified address to a verified one, and never back', async () => {
    const [externalId, email] = [newId(), newAddress()]
    await put(externalId, { email, name: 'Ada' })
    expect((await put(externalId, { email_verified: false })).data).toMatchObject({ email_verified: false })
    expect((await put(externalId, { email_verified: true })).data).toMatchObject({ email_verified: true })
    const refused = await put(externalId, { email_verified: false })
    expect([refused.code, refused.details.includes('email_verified')]).toEqual(['REQUEST_001', true])
    expect((await put(externalId, { email: newAddress(), email_verified: false })).code).toBe('REQUEST_001')
    expect((await get(externalId)).data).toMatchObject({ email, email_verified: true })
  })

  test.each([
    ['the address itself', '', 'EMAIL_006'],
    ['another address', 'new-', 'accepted'],
  ])('an unverified address to a verified one beside a pending change to %s', async (_what, prefix, outcome) => {
    const caller = await givenCaller(ctx)
    const externalId = newId()
    await ctx.db.user.update({ where: { id: caller.userId }, data: { emailVerifiedAt: null, externalId } })
    const pending = await givenChange(ctx, caller, `${prefix}${caller.email}`)
    const { data } = await put(externalId, { email_verified: true })
    expect(data.pending_change).toMatchObject({ has_pending: outcome === 'accepted' })
    expect((await verify(caller, pending.id, pending.code)).code).toBe(outcome)
  })

  test('another address as a verified change: change row, sessions end, pending change cancelled, both addresses get a notice', async () => {
    const person = await givenPerson({ password: { format: 'argon2id', value: HASH } })
    const caller = await callerOf(ctx, person, 'correct horse')
    await ctx.db.user.update({
      where: { id: person.userId },
      data: { passwordHash: await ctx.passwords.hash('correct horse') },
    })
    const pending = await givenChange(ctx, caller)
    ctx.mailbox.length = 0
    const newEmail = newAddress()
    const { status, data } = await put(person.externalId, { email: newEmail })
    expect([status, data.email, data.email_verified, data.created]).toEqual([200, newEmail, true, false])
    expect(data.pending_change).toMatchObject({ has_pending: false })
    await ctx.settle()
    expect(ctx.mailbox.map(({ message }) => message.template)).toEqual(['email-changed', 'email-changed'])
    expect(ctx.mailbox.map(({ to }) => to).sort()).toEqual([person.email, newEmail].sort())
    const changes = await ctx.db.emailChangeRequest.findMany({ where: { userId: person.userId } })
    expect(changes.find(({ id }) => id === pending.id)?.status).toBe('cancelled')
    expect(changes.find(({ id }) => id !== pending.id)).toMatchObject({
      status: 'verified',
      oldEmail: person.email,
      newEmail,
      closedAt: ctx.clock.now(),
    })
    const session = await ctx.db.session.findUniqueOrThrow({ where: { id: caller.sessionId } })
    expect(session.revokedAt).toEqual(ctx.clock.now())
    expect((await call(caller, 'getEmailStatus')).data).toMatchObject({ current_email: newEmail })
    expect((await verify(caller, pending.id, pending.code)).code).toBe('EMAIL_006')
    expect((await stateOf(person.userId)).audits).toContain('email.changed')
    expect(await ctx.db.notice.count({ where: { userId: person.userId, kind: 'email_changed', sentAt: null } })).toBe(0)
    const again = await put(person.externalId, { email: newEmail })
    expect([again.status, (await stateOf(person.userId)).changes]).toEqual([200, 2])
  })

  test('letter case alone as typed: no change, no notice, no session ends', async () => {
    const person = await givenPerson()
    const caller = await callerOf(ctx, person)
    ctx.mailbox.length = 0
    const typed = person.email.toUpperCase()
    expect((await put(person.externalId, { email: typed })).data).toMatchObject({ email: typed, email_verified: true })
    await ctx.settle()
    expect(ctx.mailbox).toEqual([])
    expect((await stateOf(person.userId)).changes).toBe(0)
    expect((await ctx.db.session.findUniqueOrThrow({ where: { id: caller.sessionId } })).revokedAt).toBeNull()
  })

  test('no address that another account holds, and keeps everything as it was', async () => {
    const [person, other] = [await givenPerson(), await givenPerson()]
    const before = await stateOf(person.userId)
    const refused = await put(person.externalId, { email: other.email.toUpperCase(), name: 'Eve' })
    expect([refused.status, refused.code]).toEqual([409, 'EMAIL_002'])
    expect(await stateOf(person.userId)).toEqual(before)
  })

  test('no password: the one that the account has stays', async () => {
    const person = await givenPerson()
    const password = { format: 'argon2id', value: HASH }
    expect((await put(person.externalId, { password })).data).toMatchObject({ has_password: false })
  })

  test('an existing account without an external id by its user_id, once', async () => {
    const old = await givenCaller(ctx)
    const externalId = newId()
    const attached = await put(externalId, { user_id: old.userId })
    expect([attached.status, attached.data]).toMatchObject([200, { user_id: old.userId, external_id: externalId }])
    expect((await get(externalId)).data).toMatchObject({ user_id: old.userId, email: old.email, has_password: true })
    expect((await put(externalId, { user_id: old.userId })).status).toBe(200)
    expect((await put(newId(), { user_id: old.userId })).code).toBe('REQUEST_001')
    const other = await givenCaller(ctx)
    expect((await put(externalId, { user_id: other.userId })).code).toBe('REQUEST_001')
    expect((await put(newId(), { user_id: `usr_${'A'.repeat(22)}` })).code).toBe('USER_001')
    expect((await get(externalId)).data).toMatchObject({ user_id: old.userId })
  })
})

describe('profile and preferences', () => {
  const detailsOf = async (userId: string) => ({
    profile: await ctx.db.profile.findUnique({ where: { userId } }),
    preferences: Object.fromEntries(
      (await ctx.db.preference.findMany({ where: { userId } })).map(({ key, value }) => [key, value]),
    ),
  })

  test('are written with the account, changed by member, and stay when left out', async () => {
    const profile = { phone: '+49 30 1', bio: 'Reader' }
    const { userId, externalId } = await givenPerson({ profile, preferences: { theme: 'dark', 'mail.weekly': 'no' } })
    const none = { birthDate: null, address: null }
    expect(await detailsOf(userId)).toEqual({
      profile: { userId, ...none, ...profile },
      preferences: { theme: 'dark', 'mail.weekly': 'no' },
    })
    const before = await stateOf(userId)
    expect((await put(externalId, { profile, preferences: { theme: 'dark', gone: null } })).status).toBe(200)
    expect((await put(externalId, { name: 'Ada' })).status).toBe(200)
    expect(await stateOf(userId)).toEqual(before)

    const kept = { theme: null, size: 'L', ['__proto__']: 'kept' }
    const changes = { profile: { bio: null, address: 'Main St 1' }, preferences: kept }
    expect(await put(externalId, { ...changes, if_version: 7 })).toMatchObject({ code: 'USER_003' })
    expect((await detailsOf(userId)).preferences).toEqual({ theme: 'dark', 'mail.weekly': 'no' })
    expect(await put(externalId, changes)).toMatchObject({ status: 200, data: { version: before.user.version + 1 } })
    const { profile: changed, preferences } = await detailsOf(userId)
    expect(changed).toEqual({ userId, phone: '+49 30 1', birthDate: null, address: 'Main St 1', bio: null })
    expect(Object.entries(preferences).sort()).toEqual([
      ['__proto__', 'kept'],
      ['mail.weekly', 'no'],
      ['size', 'L'],
    ])
  })

  test('are refused by the name of the member that breaks a rule, and then nothing is written', async () => {
    const { userId, externalId } = await givenPerson({ preferences: { theme: 'dark' } })
    const many = (count: number, name = 'k') =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [name + n, 'v']))
    for (const [body, named] of [
      [{ profile: { phone: 7 } }, 'profile.phone'],
      [{ profile: { bio: 'x'.repeat(1001) } }, 'profile.bio'],
      [{ profile: [] }, 'profile must'],
      [{ preferences: 'dark' }, 'preferences must'],
      [{ preferences: { theme: { dark: true } } }, 'preferences.theme'],
      [{ preferences: { theme: 'x'.repeat(1001) } }, 'preferences.theme'],
      [{ preferences: { theme: 'a\0b' } }, 'preferences.theme'],
      [{ preferences: { '': 'x' } }, '1 to 64'],
      [{ preferences: { ['k'.repeat(65)]: 'x' } }, 'kkk'],
      [{ preferences: many(51) }, 'at most 50'],
      [{ preferences: many(50) }, 'more than 50'],
    ] as const) {
      const { code, details } = await put(externalId, { name: 'Eve', ...body })
      expect([code, details]).toEqual(['REQUEST_001', expect.stringContaining(named)])
    }
    expect(await detailsOf(userId)).toEqual({ profile: null, preferences: { theme: 'dark' } })
    expect((await ctx.db.user.findUniqueOrThrow({ where: { id: userId } })).name).not.toBe('Eve')
    expect((await put(externalId, { preferences: many(49) })).status).toBe(200)
  })
})

describe('looking up', () => {
  test('an unknown id or address is USER_001, an address that is none EMAIL_001, and none at all REQUEST_001', async () => {
    expect((await get(newId())).status).toBe(404)
    expect((await find(newAddress())).code).toBe('USER_001')
    expect((await find('x@')).code).toBe('EMAIL_001')
    const unescaped = await call(service, 'findUser', { query: '?email=ada+shop@example.test' })
    expect([unescaped.code, unescaped.details]).toEqual(['EMAIL_001', expect.stringContaining('write it as %2B')])
    for (const query of ['', '?email', '?email=a@b.test&email=a@b.test', '?mail=a@b.test']) {
      const { code } = await call(service, 'findUser', { query })
      expect([query, code]).toEqual([query, query === '?email' ? 'EMAIL_001' : 'REQUEST_001'])
    }
  })

  test('the accounts whose mail comes back are listed page by page, without an address, a withdrawn or a healed one', async () => {
    const since = ctx.clock.now()
    const mark = async (person: Person, undeliverableAt: Date | null = since) =>
      ctx.db.user.update({ where: { id: person.userId }, data: { undeliverableAt } })
    const people = await Promise.all(Array.from({ length: 5 }, () => givenPerson()))
    people.sort((a, b) => (a.userId < b.userId ? -1 : 1))
    for (const person of people) await mark(person)
    const [, withdrawn, healed] = people as [Person, Person, Person]
    await withdrawFor(withdrawn.externalId)
    await put(healed.externalId, { email: newAddress(), old_mailbox: 'lost' })
    const listed = []
    for (let query = '?limit=2'; query; ) {
      const { data } = await call(service, 'listUndeliverableUsers', { query })
      listed.push(data)
      query = data.next ? `?limit=2&after=${data.next}` : ''
    }
    const [a, , , b, c] = people.map(({ userId, externalId }) => ({
      user_id: userId,
      external_id: externalId,
      since: since.toISOString(),
    }))
    expect(listed).toEqual([
      { users: [a, b], next: b?.user_id },
      { users: [c], next: null },
    ])
    for (const query of ['?after=usr_1', '?limit=0', '?limit=1001'])
      expect((await call(service, 'listUndeliverableUsers', { query })).code).toBe('REQUEST_001')
  })

  test('shows the pending change as the person sees it', async () => {
    const caller = await givenCaller(ctx)
    const externalId = newId()
    await put(externalId, { user_id: caller.userId })
    await givenChange(ctx, caller)
    const { data } = await call(caller, 'getEmailStatus')
    expect((await get(externalId)).data.pending_change).toEqual(data.pending_change)
  })
})

describe('a withdrawal on behalf', () => {
  test("has the answer of the person's own call, notifies the person, and audits who asked", async () => {
    const person = await givenPerson()
    const caller = await callerOf(ctx, person)
    ctx.mailbox.length = 0
    const { status, data, headers } = await withdrawFor(person.externalId, { requested_by: 'Ticket «4711»' })
    expect(status).toBe(202)
    expect(data).toMatchObject({ user_id: person.userId, status: 'processing', data_retention_period: 30 })
    expect(headers.get('Location')).toBe(`/api/v1/users/${person.userId}/withdrawal/${data.withdrawal_id}`)
    await ctx.settle()
    expect(ctx.mailbox.map(({ to, message }) => [to, message.template])).toEqual([
      [person.email, 'account-withdrawal-started'],
    ])
    const audit = await ctx.db.auditEvent.findFirstOrThrow({
      where: { userId: person.userId, action: 'account.withdrawn' },
    })
    expect(audit).toMatchObject({ actor: 'service', actorId: service.id, requestedBy: 'Ticket «4711»' })
    expect((await call(caller, 'getEmailStatus')).code).toBe('AUTH_001')
    const ids = { withdrawalId: String(data.withdrawal_id) }
    const progress = await call(caller, 'getWithdrawalStatus', { ids, token: String(data.status_token) })
    expect(progress.code).toBe('accepted')
    // The service made the call, not this token.
    expect((await call(caller, 'getWithdrawalStatus', { ids })).code).toBe('AUTH_001')
  })

  test("is refused where the person's own call is: a wrong confirmation, twice", async () => {
    const person = await givenPerson()
    expect((await withdrawFor(person.externalId, { confirmation: 'yes' })).code).toBe('WITHDRAWAL_001')
    expect((await withdrawFor(person.externalId, { reason: 'other' })).code).toBe('REQUEST_001')
    const [other, unknown] = [await givenPerson(), newId()]
    expect((await withdrawFor(unknown)).code).toBe('USER_001')
    const answers = await Promise.all(Array.from({ length: 10 }, () => withdrawFor(other.externalId)))
    expect(tally(answers.map(({ code }) => code))).toEqual({ accepted: 1, WITHDRAWAL_002: 9 })
  })

  test.each([undefined, null, 7, '', 'x'.repeat(65), 'a\nb', 'a\u2028b', ['x']])(
    'does not begin where requested_by is %j',
    async (requested_by) => {
      const person = await givenPerson()
      const { code, details } = await withdrawFor(person.externalId, { requested_by })
      expect([code, details.includes('requested_by')]).toEqual(['REQUEST_001', true])
    },
  )
})

describe('after a withdrawal', () => {
  test('the account is found by its external id until user_profile has run, and then nowhere', async () => {
    const person = await givenPerson()
    const { data } = await withdrawFor(person.externalId)
    expect((await get(person.externalId)).data).toMatchObject({
      user_id: person.userId,
      withdrawal_id: data.withdrawal_id,
    })
    expect((await find(person.email)).code).toBe('USER_001')
    ctx.clock.advance(6 * minute)
    await runDueWork(ctx)
    expect((await get(person.externalId)).code).toBe('USER_001')
    expect((await withdrawFor(person.externalId)).code).toBe('USER_001')
    expect(await tablesWith(ctx, person.externalId)).toEqual([])
  })

  test.each([
    ['at once', 0],
    ['once the account is erased', 6 * minute],
    ['a day before the purge', 29 * day],
  ])('its external id creates no new account without recreate: %s', async (_when, waitMs) => {
    const person = await givenPerson()
    await withdrawFor(person.externalId)
    ctx.clock.advance(waitMs)
    await runDueWork(ctx)
    const body = { email: person.email, name: 'Ada' }
    const refused = await put(person.externalId, body)
    expect([refused.status, refused.code]).toEqual([409, 'USER_002'])
    expect((await put(person.externalId, { ...body, recreate: false })).code).toBe('USER_002')
    const made = await put(person.externalId, { ...body, recreate: true })
    expect([made.status, made.data.user_id === person.userId]).toEqual([201, false])
    expect((await put(person.externalId, body)).status).toBe(200)
    expect((await get(person.externalId)).data).toMatchObject({ user_id: made.data.user_id, withdrawal_id: null })
  })

  test('a PUT that waited for the withdrawal does not bring the person back', async () => {
    const person = await givenPerson()
    const answers = await Promise.all([
      withdrawFor(person.externalId),
      ...Array.from({ length: 10 }, (_, n) => put(person.externalId, { email: person.email, name: `Ada ${n}` })),
    ])
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    const outcomes = new Set(answers.slice(1).map(({ status, code }) => `${status} ${code}`))
    expect([...outcomes].filter((outcome) => !['200 accepted', '409 USER_002'].includes(outcome))).toEqual([])
    expect(await ctx.db.user.count({ where: { externalId: person.externalId, withdrawnAt: null } })).toBe(0)
  })

  test('a replay withdraws a person whom a restored backup brought back, and ends the external id again', async () => {
    const person = await givenPerson()
    const { data } = await withdrawFor(person.externalId)
    await ctx.settle()
    expect(ledgerLines(ctx).map(({ withdrawalId }) => withdrawalId)).toContain(data.withdrawal_id)
    await ctx.db.outboxEvent.deleteMany({})
    await ctx.db.withdrawal.delete({ where: { id: String(data.withdrawal_id) } })
    await ctx.db.endedExternalId.deleteMany({ where: { userId: person.userId } })
    await ctx.db.user.update({ where: { id: person.userId }, data: { withdrawnAt: null, emailKey: person.email } })
    await replayErasureLedger(ctx)
    expect((await put(person.externalId, { email: newAddress(), name: 'Ada' })).code).toBe('USER_002')
  })
})

describe('ending all sessions', () => {
  test('ends every session and access token and cancels the pending change; the next sign-in and token work', async () => {
    const caller = await givenCaller(ctx)
    const externalId = newId()
    await put(externalId, { user_id: caller.userId })
    const second = await givenSession(ctx, caller.userId)
    const pending = await givenChange(ctx, caller)
    const { status, data } = await byService('endUserSessions', externalId)
    expect([status, data]).toEqual([200, { user_id: caller.userId, sessions_ended: 2, tokens_ended: 1 }])
    const tokens = [caller.token, ...[caller.sessionId, second].map((id) => createSessionToken(ctx, id).token)]
    for (const token of tokens) expect((await call(caller, 'getEmailStatus', { token })).code).toBe('AUTH_001')
    const { token } = await givenToken(ctx, caller.userId)
    expect((await call(caller, 'getEmailStatus', { token })).data.pending_change).toMatchObject({ has_pending: false })
    expect((await verify({ ...caller, token }, pending.id, pending.code)).code).toBe('EMAIL_006')
    expect((await byService('endUserSessions', externalId)).data).toMatchObject({ sessions_ended: 0, tokens_ended: 1 })
    expect((await byService('endUserSessions', newId())).code).toBe('USER_001')
  })
})

describe('accounts with a role', () => {
  const BLOCKER = { code: 'debt', title: 'You owe us a book' }
  const writes = (appId: string): [string, (person: Person) => Promise<Answer>][] => {
    const ids = ({ externalId }: Person, more: object = {}) => ({
      ids: { externalId: encodeURIComponent(externalId), appId, ...more },
    })
    return [
      ['another address', ({ externalId }) => put(externalId, { email: newAddress() })],
      ['the same body again', ({ externalId }) => put(externalId, {})],
      ['an external id', ({ userId }) => put(newId(), { user_id: userId })],
      ['a withdrawal', ({ externalId }) => withdrawFor(externalId)],
      ['an end of all sessions', ({ externalId }) => byService('endUserSessions', externalId)],
      ['a blocker', (person) => call(service, 'putBlocker', { ...ids(person, { key: 'debt' }), body: BLOCKER })],
      ['the end of a blocker', (person) => call(service, 'removeBlocker', ids(person, { key: 'debt' }))],
      ['a connection', (person) => call(service, 'putConnection', { ...ids(person), body: { subject: 'reader 7' } })],
      ['the end of a connection', (person) => call(service, 'removeConnection', ids(person))],
    ]
  }

  test('no write of a service reaches an account that has a role, and reads do', async () => {
    const appId = await givenParticipant(ctx, 'shop', { audience: 'connected' })
    const person = await givenPerson()
    await setRole(ctx, { userId: person.userId, role: 'operator' })
    const before = await stateOf(person.userId)
    for (const [what, write] of writes(appId)) {
      const whose = what === 'an external id' ? await givenOperatorWithoutId() : person
      const { status, code, details } = await write(whose)
      expect([what, status, code, details]).toEqual([
        what,
        403,
        'AUTH_002',
        'This account has a role. The operator command alone changes it.',
      ])
    }
    expect(await stateOf(person.userId)).toEqual(before)
    expect((await get(person.externalId)).code).toBe('accepted')
    await setRole(ctx, { userId: person.userId, role: null })
    for (const [what, write] of writes(appId)) {
      // Ends the account, or needs one without an external id.
      if (what === 'a withdrawal' || what === 'an external id') continue
      expect([what, (await write(person)).code]).toEqual([what, 'accepted'])
    }
  })

  async function givenOperatorWithoutId(): Promise<Person> {
    const { userId, email } = await givenCaller(ctx)
    await setRole(ctx, { userId, role: 'operator' })
    return { userId, email, externalId: '' }
  }

  test('a write that waits while the account gets its role is refused', async () => {
    const appId = await givenParticipant(ctx, 'shop', { audience: 'connected' })
    for (const [what, write] of writes(appId)) {
      if (what === 'an external id') continue
      const person = await givenPerson()
      const { code } = await heldUp(
        ctx,
        ['users', person.userId],
        () => write(person),
        (sql) => rawSql(sql, `UPDATE users SET role = 'operator' WHERE id = $1`, [person.userId]),
      )
      expect([what, code]).toEqual([what, 'AUTH_002'])
      const { email, withdrawnAt } = await ctx.db.user.findUniqueOrThrow({ where: { id: person.userId } })
      expect([what, email, withdrawnAt]).toEqual([what, person.email, null])
    }
  })

  test('a service that looks up its id of a person does not find an application whose name begins so', async () => {
    const id = newId()
    const appId = await givenParticipant(ctx, `${id} shop`)
    const lookUp = (text: string) => call(service, 'lookUp', { body: { text } })
    expect((await lookUp(id)).code).toBe('USER_001')
    expect((await lookUp(`${id} shop`)).data).toEqual({ kind: 'app', id: appId })
  })

  test('a look-up by address is noted with the service and without the address', async () => {
    const person = await givenPerson()
    expect((await find(person.email.toUpperCase())).code).toBe('accepted')
    expect((await find(newAddress())).code).toBe('USER_001')
    const noted = await ctx.db.auditEvent.findMany({ where: { action: 'account.looked_up', actorId: service.id } })
    expect(noted).toMatchObject([{ userId: person.userId, actor: 'service', subjectId: null, ip: '192.0.2.1' }])
    expect(JSON.stringify(noted)).not.toContain('@')
  })
})

describe('outside tokens and external ids in paths', () => {
  /** The issuer vouches for these subjects with these tokens. */
  const outside = (subjectIs: 'user_id' | 'external_id', subjects: Record<string, string>) =>
    trustIssuer(ctx, (token) => (subjects[token] ? { subject: subjects[token] } : null), subjectIs)
  const status = (userId: string, token: string): Promise<Answer> =>
    call({ userId, token }, 'getEmailStatus', { ids: { userId } })

  test('with AUTH_SUBJECT=external_id the subject is the external id and nothing else', async () => {
    const [person, other] = [await givenPerson(), await givenPerson()]
    outside('external_id', { 'a.b.ext': person.externalId, 'a.b.usr': person.userId, 'a.b.unknown': newId() })
    expect((await status(person.userId, 'a.b.ext')).data).toMatchObject({ current_email: person.email })
    expect((await status(encodeURIComponent(`~${person.externalId}`), 'a.b.ext')).code).toBe('accepted')
    expect((await status(other.userId, 'a.b.ext')).code).toBe('AUTH_002')
    expect((await status(person.userId, 'a.b.usr')).code).toBe('AUTH_001')
    expect((await status(person.userId, 'a.b.unknown')).code).toBe('AUTH_001')
  })

  test('without it the subject is our id and nothing else', async () => {
    const person = await givenPerson()
    outside('user_id', { 'a.b.ext': person.externalId, 'a.b.usr': person.userId })
    expect((await status(person.userId, 'a.b.usr')).code).toBe('accepted')
    expect((await status(encodeURIComponent(`~${person.externalId}`), 'a.b.usr')).code).toBe('accepted')
    expect((await status(person.userId, 'a.b.ext')).code).toBe('AUTH_001')
  })

  test('~ and an external id stand for the user in every path, and others’ and unknown ids are refused alike', async () => {
    const [person, other] = [await givenPerson(), await givenPerson()]
    const caller = await callerOf(ctx, person)
    const own = encodeURIComponent(`~${person.externalId}`)
    expect((await status(own, caller.token)).data).toMatchObject({ current_email: person.email })
    const texts = new Set<string>()
    const { externalId: ownId, userId } = person
    for (const externalId of [other.externalId, newId(), '', userId, `${ownId} `, ownId.toUpperCase()]) {
      const { code, text } = await status(encodeURIComponent(`~${externalId}`), caller.token)
      expect([externalId, code]).toEqual([externalId, 'AUTH_002'])
      texts.add(text)
    }
    // Without the ~ it is no external id.
    expect((await status(encodeURIComponent(person.externalId), caller.token)).code).toBe('AUTH_002')
    texts.add((await status(other.userId, caller.token)).text)
    expect(texts.size).toBe(1)
    const nobody = await givenCaller(ctx)
    expect((await status('~null', nobody.token)).code).toBe('AUTH_002')
    expect((await status('~', nobody.token)).code).toBe('AUTH_002')
  })

  test('a withdrawal under ~ leads to its progress, which the path with the external id reads until the purge', async () => {
    const person = await givenPerson()
    const caller = await callerOf(ctx, person)
    const own = encodeURIComponent(`~${person.externalId}`)
    const { data, headers } = await withdraw({ ...caller, userId: own })
    expect(headers.get('Location')).toBe(`/api/v1/users/${person.userId}/withdrawal/${data.withdrawal_id}`)
    const ids = { withdrawalId: String(data.withdrawal_id) }
    ctx.clock.advance(6 * minute)
    await runDueWork(ctx)
    for (const token of [caller.token, String(data.status_token)]) {
      expect((await call({ userId: own, token }, 'getWithdrawalStatus', { ids })).code).toBe('accepted')
      expect((await call({ userId: person.userId, token }, 'getWithdrawalStatus', { ids })).code).toBe('accepted')
      expect((await call({ userId: '~other', token }, 'getWithdrawalStatus', { ids })).code).toBe('AUTH_001')
    }
    expect((await withdraw({ ...caller, userId: own })).code).toBe('WITHDRAWAL_002')
  })
})
