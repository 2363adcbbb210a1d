import { beforeEach, describe, expect, test } from 'vitest'
import { startImport, startImportCheck } from '@/domain/accounts/import'
import { setEmail } from '@/domain/accounts/set-email'
import { createUser } from '@/domain/accounts/user'
import { type Caller, call, change, day, minute, verify, withdraw } from '@/testing/api-calls'
import { givenCaller, givenChange, givenServiceOf, givenServiceToken } from '@/testing/callers'
import { testDatabase } from '@/testing/domain'
import { linkTo, move, redeem } from '@/testing/not-me'
import { outcomeOf, untilWaiting } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { emailOf, givenService, type Service, times } from '@/testing/service'

let ctx: Service
let owner: Caller

beforeEach(async () => {
  ctx = await givenService()
  owner = await givenCaller(ctx)
})

const signUp = (email: string) =>
  outcomeOf(createUser(ctx, { email, password: 'a long password', name: 'Grace', emailVerified: true }))

/** Every way by which somebody else could get an address; each answers what it was told. */
async function waysIn() {
  const service = await givenServiceToken(ctx)
  const put = (externalId: string, body: object) => call(service, 'putUser', { ids: { externalId }, body })
  let made = 0
  const imported = (email: string) => [
    { line: 1, text: JSON.stringify({ external_id: `imported-${++made}-${email}`, email, name: 'Grace' }) },
  ]
  return {
    'a change': async (email: string) => (await change(await givenCaller(ctx), email)).code,
    'a service that creates an account': async (email: string) =>
      (await put(`new-${++made}-${email}`, { email, name: 'Grace' })).code,
    'a service that changes an account': async (email: string) => {
      const externalId = `old-${++made}-${email}`
      await put(externalId, { email: `${made}-${email}`, name: 'Grace' })
      return (await put(externalId, { email })).code
    },
    'an import': async (email: string) => {
      const [result] = await startImport(ctx).take(imported(email))
      return result?.code ?? 'accepted'
    },
    'a check of an import': async (email: string) => {
      const [problem] = await startImportCheck(ctx).take(imported(email))
      return problem?.code ?? 'accepted'
    },
    'the operator': (email: string) => signUp(email),
  }
}

describe('a replaced address', () => {
  test('B47 is in use for everybody else, whatever the way in and the letter case, until the window ends', async () => {
    Object.assign(ctx.limits, { undoWindowMs: 2 * day, taken: { places: 100, windowMs: day } })
    for (const [way, ask] of Object.entries(await waysIn())) {
      owner = await givenCaller(ctx)
      await move(ctx, owner, `new-${owner.email}`)
      expect([way, await ask(owner.email)]).toEqual([way, 'EMAIL_002'])
      expect([way, await ask(owner.email.toUpperCase())]).toEqual([way, 'EMAIL_002'])
      ctx.clock.advance(2 * day - minute - 1)
      expect([way, await ask(owner.email)]).toEqual([way, 'EMAIL_002'])
      ctx.clock.advance(1)
      expect([way, await ask(owner.email)]).toEqual([way, 'accepted'])
      await ctx.settle()
    }
  })

  test('B47 is held by whatever way its account gets another one, verified before or not, but not where its mailbox is lost', async () => {
    const ways: Record<string, (owner: Caller, to: string) => Promise<unknown>> = {
      'the person verifies it': (owner, to) => move(ctx, owner, to),
      'a service puts it': async (owner, email) => (await givenServiceOf(ctx, owner))('putUser', { email }),
      'a service puts it with the account’s first external id': async ({ userId }, email) =>
        call(await givenServiceToken(ctx), 'putUser', {
          ids: { externalId: `first-${userId}` },
          body: { user_id: userId, email },
        }),
      'the operator sets it': ({ userId }, email) => setEmail(ctx, { userId, email }),
      async 'an undo leaves an older one'(owner, to) {
        await move(ctx, owner, to)
        await move(ctx, owner, `undone-${to}`)
        expect((await redeem(linkTo(ctx, to))).data).toMatchObject({ status: 'reverted', email: to })
      },
    }
    for (const [way, replace] of Object.entries(ways)) {
      for (const emailVerifiedAt of [ctx.clock.now(), null]) {
        owner = await givenCaller(ctx)
        await ctx.db.user.update({ where: { id: owner.userId }, data: { emailVerifiedAt } })
        await replace(owner, `new-${owner.email}`)
        expect([way, await emailOf(ctx, owner)]).toEqual([way, `new-${owner.email}`])
        expect([way, await signUp(owner.email)]).toEqual([way, 'EMAIL_002'])
        await ctx.settle()
      }
    }
    owner = await givenCaller(ctx)
    await setEmail(ctx, { userId: owner.userId, email: `safe-${owner.email}`, oldMailbox: 'lost' })
    expect(await signUp(owner.email)).toBe('accepted')
  })

  test('B47 is in use for a change that was requested before it was replaced, or while it is', async () => {
    const to = `new-${owner.email}`
    // Whoever is verified first has the address; the other one's request is still open then.
    const other = await givenCaller(ctx)
    const waiting = await givenChange(ctx, other, to)
    await move(ctx, owner, to)
    await move(ctx, owner, `newer-${owner.email}`)
    expect((await verify(other, waiting.id, waiting.code)).code).toBe('EMAIL_002')
    expect(await emailOf(ctx, other)).toBe(other.email)
    ctx.clock.advance(7 * day)
    await move(ctx, other, to)
  })

  test('B47 is held along a whole chain of changes, and every link of the chain restores', async () => {
    for (const restored of ['a', 'b']) {
      owner = await givenCaller(ctx)
      const [a, b, c] = [owner.email, `b-${owner.email}`, `c-${owner.email}`]
      const chain = [a, b, c]
      await move(ctx, owner, b)
      await move(ctx, owner, c)
      for (const address of chain) expect(await signUp(address)).toBe('EMAIL_002')
      expect((await redeem(linkTo(ctx, restored === 'a' ? a : b))).code).toBe('accepted')
      expect(await emailOf(ctx, owner)).toBe(restored === 'a' ? a : b)
      // A reverted change holds nothing.
      expect(await Promise.all(chain.map(signUp))).toEqual(
        restored === 'a' ? ['EMAIL_002', 'accepted', 'accepted'] : ['EMAIL_002', 'EMAIL_002', 'accepted'],
      )
    }
  })

  test('B47 is free for its own account, which may go back to it, verified before or not', async () => {
    for (const emailVerifiedAt of [ctx.clock.now(), null]) {
      owner = await givenCaller(ctx)
      await ctx.db.user.update({ where: { id: owner.userId }, data: { emailVerifiedAt } })
      await move(ctx, owner, `new-${owner.email}`)
      await move(ctx, owner, owner.email)
      expect(await emailOf(ctx, owner)).toBe(owner.email)
      await move(ctx, owner, `new-${owner.email}`)
      const service = await givenServiceToken(ctx)
      const asking = { ids: { externalId: owner.userId.slice(4) }, body: { user_id: owner.userId, email: owner.email } }
      expect((await call(service, 'putUser', asking)).code).toBe('accepted')
      await ctx.settle()
      expect(await emailOf(ctx, owner)).toBe(owner.email)
    }
  })

  test('B47 is not held by a withdrawn account, nor where changes cannot be undone', async () => {
    await move(ctx, owner, `new-${owner.email}`)
    expect((await withdraw(owner)).status).toBe(202)
    await ctx.settle()
    expect(await signUp(owner.email)).toBe('accepted')

    ctx.limits.undoWindowMs = 0
    const other = await givenCaller(ctx)
    await move(ctx, other, `new-${other.email}`)
    expect(await signUp(other.email)).toBe('accepted')
  })

  test('B47 is refused to a sign-up that waited for the address while the change was verified', async () => {
    const { id, code } = await givenChange(ctx, owner, `new-${owner.email}`)
    let created: Promise<string> | undefined
    await ctx.transact(async (sql) => {
      await rawSql(sql, 'SELECT pg_advisory_xact_lock(20261123, hashtext($1) & 65535)', [owner.email])
      created = signUp(owner.email)
      await untilWaiting(ctx)
      expect((await verify(owner, id, code)).code).toBe('accepted')
    })
    expect(await created).toBe('EMAIL_002')
    await ctx.settle()
    expect((await redeem(linkTo(ctx, owner.email))).code).toBe('accepted')
  })
})

test('B47 the function that guards every address looks held ones up by their index', async () => {
  const { open } = await testDatabase()
  await ctx.db.$executeRawUnsafe(`INSERT INTO users (id, name, email, email_key, created_at)
    SELECT 'usr_held_' || n, '', '', 'held' || n, now() FROM generate_series(1, 5000) n`)
  await ctx.db.$executeRawUnsafe(`INSERT INTO email_change_requests
      (id, user_id, status, method, old_email, old_email_key, new_email, new_email_key, code_mac, requested_at, request_ip, sent_at, expires_at, closed_at)
    SELECT 'ecr_held_' || n, 'usr_held_' || n, 'verified', 'email_code', '', 'replaced' || n, '', '', '', now(), '', now(), now(), now()
    FROM generate_series(1, 5000) n`)
  await ctx.db.$executeRawUnsafe('ANALYZE')
  const scans = await open.db.$transaction(async (db) => {
    const since = new Date(0)
    for (const n of times(20, (n) => n + 1)) {
      const [row] = await db.$queryRawUnsafe<{ free: boolean }[]>(
        'SELECT address_is_free($1, $2, $3::timestamptz) AS free',
        `replaced${n}`,
        'usr_other',
        since,
      )
      expect(row?.free).toBe(false)
    }
    return db.$queryRawUnsafe<{ relname: string; seq_scan: number }[]>(
      `SELECT relname::text, seq_scan::int FROM pg_stat_xact_user_tables
       WHERE relname IN ('users', 'email_change_requests') ORDER BY relname`,
    )
  })
  expect(scans).toEqual([
    { relname: 'email_change_requests', seq_scan: 0 },
    { relname: 'users', seq_scan: 0 },
  ])
})
