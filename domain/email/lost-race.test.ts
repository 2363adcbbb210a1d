import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '@/server/adapters/database'
import { givenPendingChange, type PendingTestChange } from '@/testing/account'
import { setDatabase } from '@/testing/database'
import { asUser, givenUser, type TestContext, type TestUser, testContext, testDatabase } from '@/testing/domain'
import { outcomeOf, tally } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { createUser } from '../accounts/user'
import { verifyEmail } from './verify-email'

const MANY = 12
const NO_LIMIT = { places: 1000, windowMs: 60_000 }
const LIMITS = { target: NO_LIMIT, targetMail: NO_LIMIT }

/** A context on a database with PostgreSQL's default log settings, and a search of its log for a text. */
async function givenLoggingDatabase() {
  const { url } = await testDatabase()
  const settings = { log_min_messages: 'warning', log_min_error_statement: 'error', log_error_verbosity: 'default' }
  onTestFinished(await setDatabase(url, settings))
  const database = openDatabase(url, MANY)
  onTestFinished(() => database.close())
  const [setting] = await rawSql<{ data_directory: string }>(database.sql, 'SHOW data_directory')
  const log = path.join(setting?.data_directory ?? '', '../pg.log')
  const ctx: TestContext = { ...(await testContext(LIMITS)), sql: database.sql, transact: database.transact }
  return { ctx, logged: async (text: string) => (await readFile(log, 'utf8')).includes(text) }
}

const verify = async (ctx: TestContext, user: TestUser, change: PendingTestChange) => {
  const caller = await asUser(ctx, user)
  const input = { userId: user.userId, change_request_id: change.change_request_id, verification_code: change.code }
  return () => outcomeOf(verifyEmail(caller, input))
}

test("the database's log would quote an address that a unique index refuses", async () => {
  const { ctx, logged } = await givenLoggingDatabase()
  const { email } = await givenUser(ctx)
  const copy = `INSERT INTO users SELECT id || 'x', name, email, email_key, email_verified_at, password_hash, withdrawn_at, created_at FROM users WHERE email = $1`
  await expect(rawSql(ctx.sql, copy, [email])).rejects.toThrow('unique')
  await expect.poll(() => logged(email)).toBe(true)
})

test('L9 of many concurrent verifications of one address one succeeds, and no log names the address', async () => {
  const { ctx, logged } = await givenLoggingDatabase()
  for (let round = 0; round < 2; round++) {
    const target = `wanted-${round}-${Date.now()}@example.test`
    const calls: (() => Promise<string>)[] = []
    for (let n = 0; n < MANY; n++) {
      const user = await givenUser(ctx)
      calls.push(await verify(ctx, user, await givenPendingChange(ctx, user, target)))
    }
    const outcomes = await Promise.all(calls.map((call) => call()))
    expect(tally(outcomes)).toEqual({ accepted: 1, EMAIL_002: MANY - 1 })
    expect(await ctx.db.user.count({ where: { emailKey: target } })).toBe(1)
    // The loser's request stays open, with its attempt counted.
    const open = { newEmailKey: target, status: 'pending_verification' as const, attempts: 1 }
    expect(await ctx.db.emailChangeRequest.count({ where: open })).toBe(MANY - 1)
    expect(await logged(target)).toBe(false)
  }
})

test('an account is refused if its address is verified elsewhere at the same moment, and no log names the address', async () => {
  const { ctx, logged } = await givenLoggingDatabase()
  // Passwords are not hashed here, so that the accounts are created at the same moment as the codes arrive.
  const quick: TestContext = { ...ctx, passwords: { ...ctx.passwords, hash: async () => 'none' } }
  for (let round = 0; round < 2; round++) {
    const target = `sought-${round}-${Date.now()}@example.test`
    const user = await givenUser(ctx)
    const call = await verify(ctx, user, await givenPendingChange(ctx, user, target))
    const account = { email: target, password: 'correct horse battery', name: 'Bea', emailVerified: true }
    const outcomes = await Promise.all([
      ...Array.from({ length: MANY / 2 }, () => outcomeOf(createUser(quick, account))),
      call(),
      ...Array.from({ length: MANY / 2 - 1 }, () => outcomeOf(createUser(quick, account))),
    ])
    expect(tally(outcomes)).toEqual({ accepted: 1, EMAIL_002: MANY - 1 })
    expect(await logged(target)).toBe(false)
  }
})
