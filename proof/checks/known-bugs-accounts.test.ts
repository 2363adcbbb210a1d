import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { InngestTestEngine } from '@inngest/test'
import type pg from 'pg'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { adminOperations, userOperations } from '@/contract/operations'
import { setPassword } from '@/domain/accounts/user'
import { writeArchive } from '@/domain/applications/archives'
import { signIn } from '@/domain/passwords/sign-in'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { runDeletionStep } from '@/domain/withdrawal/run-deletion-step'
import { SCHEDULED } from '@/inngest/functions/due-work'
import { processWithdrawal } from '@/inngest/functions/process-withdrawal'
import { pageContext } from '@/server/pages/session'
import { authOptions } from '@/server/pages/sign-in'
import { type Caller, call, change, day, hour, minute, resend, verify, withdraw } from '@/testing/api-calls'
import { givenCaller, givenChange, givenToken } from '@/testing/callers'
import { openClient } from '@/testing/database'
import { givenSession, pass, testDatabase } from '@/testing/domain'
import { runAt } from '@/testing/raw-sql'
import { acceptOutsideToken, emailOf, givenService, mailsTo, OUTSIDE_TOKEN, type Service } from '@/testing/service'
import { givenConnectedApps } from '@/testing/withdrawals'

// Bugs of other projects (docs/guarantees.md) about credentials and withdrawals. Each title begins with the id of its row.

const cookie = vi.hoisted(() => ({ session: null as unknown }))
// The cookie can only be read inside Next; here the test says what it would have said.
vi.mock('next-auth', () => ({ getServerSession: async () => cookie.session }))

// A task's own token opens its reports; domain/applications/tasks.test.ts asks with every other.
const operations = [...userOperations, ...adminOperations]

/** The outcome of every operation with this credential. */
async function outcomes(caller: Caller, token: string | null, ids: Record<string, string> = {}, headers = {}) {
  const codes: Record<string, string> = {}
  for (const { name } of operations) codes[name] = (await call(caller, name, { token, ids, headers })).code
  return codes
}
const everywhere = (code: string, except: Record<string, string> = {}) => ({
  ...Object.fromEntries(operations.map(({ name }) => [name, code])),
  ...except,
})

test('B24 the framework has the versions without the known holes, and no page trusts the body of an action', async () => {
  const floors = {
    next: [16, 2, 6],
    react: [19, 2, 6],
    'react-dom': [19, 2, 6],
    'next-auth': [4, 24, 15],
    nodemailer: [9, 0, 5],
  }
  for (const [name, floor] of Object.entries(floors)) {
    const { version }: { version: string } = JSON.parse(await readFile(`node_modules/${name}/package.json`, 'utf8'))
    const numbers = version.split(/[.-]/).map(Number)
    const lower = floor.findIndex((number, n) => (numbers[n] ?? 0) !== number)
    expect({ name, version, ok: lower < 0 || (numbers[lower] ?? 0) > (floor[lower] ?? 0) }).toMatchObject({ ok: true })
  }
  const files = globSync('{app,components,domain,server,emails}/**/*.{ts,tsx}')
  expect(files.length).toBeGreaterThan(100)
  const texts = await Promise.all(files.map((name) => readFile(name, 'utf8')))
  expect(files.filter((_, n) => /^\s*['"]use server['"]/m.test(texts[n] ?? ''))).toEqual([])
})

test('B25 broken sign-in settings open nothing', async () => {
  const ctx = await givenService()
  const caller = await givenCaller(ctx)
  ctx.outsideIssuer = { subjectIs: 'user_id', verify: () => Promise.reject(new Error('no such issuer')) }
  expect(await outcomes(caller, OUTSIDE_TOKEN)).toEqual(everywhere('SERVER_001'))
  const fails = () => {
    throw new Error('no key')
  }
  const session = createSessionToken(ctx, caller.sessionId).token
  ctx.secrets = { ...ctx.secrets, macMatches: fails }
  expect(await outcomes(caller, session)).toEqual(everywhere('SERVER_001'))
  expect(await emailOf(ctx, caller)).toBe(caller.email)
  expect(authOptions().providers.map(({ id }) => id)).toEqual(['credentials'])

  for (const answer of [
    { message: 'There was a problem with the server configuration.' },
    {},
    { user: caller },
    true,
    null,
  ]) {
    cookie.session = answer
    expect(await pageContext()).toBeNull()
  }
  cookie.session = { sessionId: caller.sessionId }
  expect((await pageContext())?.actor.userId).toBe(caller.userId)
})

test('B27 no answer to another user shows a pending address, and a password change voids its code', async () => {
  const ctx = await givenService()
  const [caller, other] = [await givenCaller(ctx), await givenCaller(ctx)]
  const canary = `canary-${caller.email}`
  const { id, code } = await givenChange(ctx, caller, canary)
  const own = await givenChange(ctx, other)
  const answers = [
    await change(other, canary.replace('canary', 'other')),
    await change(other, caller.email),
    await verify(other, id, code),
    await verify(other, own.id, code),
    await resend(other, id),
    await call(other, 'cancelEmailChange', { ids: { changeRequestId: id } }),
    await call(caller, 'getEmailStatus', { token: other.token }),
  ]
  const token = createSessionToken(ctx, other.sessionId).token
  for (const { name } of operations) answers.push(await call(other, name, { token }))
  for (const { text, headers } of answers) expect(text + JSON.stringify([...headers])).not.toContain(canary)
  const rest = ctx.mailbox.filter(({ to }) => to !== canary && to !== caller.email)
  expect(JSON.stringify(rest)).not.toContain(canary)

  await setPassword(ctx, { userId: caller.userId, password: 'another password', keepTokens: true })
  expect((await verify(caller, id, code)).code).toBe('EMAIL_006')
  expect(await emailOf(ctx, caller)).toBe(caller.email)
})

test('B29 a withdrawal ends every credential of every kind at once, and no step revives one', async () => {
  const ctx = await givenService({ withdraw: { places: 100, windowMs: hour } })
  const caller = await givenCaller(ctx)
  acceptOutsideToken(ctx, caller)
  const sessions = [caller.sessionId, await givenSession(ctx, caller.userId)]
  const others = () => sessions.map((session) => createSessionToken(ctx, session).token)
  const credentials = [(await givenToken(ctx, caller.userId)).token, ...others(), OUTSIDE_TOKEN]
  for (const token of credentials) expect((await call(caller, 'getEmailStatus', { token })).code).toBe('accepted')
  expect(await signIn(ctx, { ...caller, userAgent: '', ip: '192.0.2.1' })).not.toBeNull()

  const { data } = await withdraw(caller)
  const ids = { withdrawalId: String(data.withdrawal_id) }
  const ended = everywhere('AUTH_001', { withdrawAccount: 'WITHDRAWAL_002' })
  for (const wait of [0, 5 * minute, hour, day]) {
    await pass(ctx, wait)
    for (const token of [...credentials, ...others()]) {
      const stale = token.startsWith('pst_') && !others().includes(token) && wait > 5 * minute
      expect(await outcomes(caller, token, ids)).toEqual(stale ? everywhere('AUTH_001') : ended)
    }
    const reads = { ...ended, getWithdrawalStatus: 'accepted' }
    expect(await outcomes(caller, caller.token, ids)).toEqual(reads)
    expect(await signIn(ctx, { ...caller, userAgent: '', ip: '192.0.2.1' })).toBeNull()
    for (const session of sessions) {
      cookie.session = { sessionId: session }
      expect(await pageContext()).toBeNull()
    }
  }
})

/** An account with the mark in every text that a person gives. */
async function givenMarked(ctx: Service) {
  const mark = `canary${crypto.randomUUID().replaceAll('-', '')}`
  const caller = await givenCaller(ctx, `${mark}@example.test`)
  const { userId } = caller
  await ctx.db.user.update({ where: { id: userId }, data: { name: `${mark} Lovelace` } })
  await ctx.db.profile.create({ data: { userId, phone: mark, birthDate: mark, address: mark, bio: mark.repeat(200) } })
  await givenConnectedApps(ctx, caller, ['shop'])
  await writeArchive(ctx, userId)
  await givenChange(ctx, caller)
  return { caller, mark }
}

test('B33 the engine receives, shows and keeps nothing but ids', async () => {
  const ctx = await givenService()
  const { caller, mark } = await givenMarked(ctx)
  ctx.apps.answer = async () => ({ status: 500, problem: 'unreachable' })
  const { data } = await withdraw(caller, {
    body: { confirmation: 'DELETE_MY_ACCOUNT', reason: 'other', feedback: mark },
  })
  await ctx.settle()
  const withdrawalId = String(data.withdrawal_id)
  expect(ctx.engine.events).toEqual([
    { id: `evt_${withdrawalId}`, name: 'account/withdrawal.started', data: { withdrawal_id: withdrawalId } },
  ])
  const { result } = await new InngestTestEngine({
    function: processWithdrawal,
    events: [ctx.engine.events[0] ?? { name: '' }],
  }).executeStep('load-steps')
  const shown = [JSON.stringify(result)]

  // The engine keeps the error of a failed step, and a database quotes rows in its errors.
  ctx.clock.advance(5 * minute)
  const { transact } = ctx
  ctx.transact = () =>
    Promise.reject(Object.assign(new Error(`duplicate key (${mark})`), { code: '23505', detail: mark }))
  const failure = await runDeletionStep(ctx, { withdrawalId, step: 'user_profile' }).catch((error) => error)
  expect(failure).toBeInstanceOf(Error)
  shown.push(JSON.stringify([failure.message, failure.stack, failure.cause, { ...failure }]))
  ctx.transact = transact
  for (const wait of [hour, day]) {
    ctx.clock.advance(wait)
    const { result, error } = await new InngestTestEngine({ function: SCHEDULED.sweep }).execute()
    shown.push(JSON.stringify([result, error]))
    await ctx.settle()
  }
  for (const text of shown) expect(text).not.toMatch(new RegExp(`${mark}|${caller.userId}|Lovelace|example\\.test`))
  // Nothing that was handed over is kept for longer than a day.
  const left = async () => ctx.db.outboxEvent.count({ where: { id: `evt_${withdrawalId}` } })
  expect(await left()).toBeLessThanOrEqual(1)
  await pass(ctx, day + 1)
  expect(await left()).toBe(0)
})

test('B34 after the archive step autovacuum alone leaves no live byte of the person in any table file', async () => {
  const ctx = await givenService()
  const { caller, mark } = await givenMarked(ctx)
  const client = await openClient((await testDatabase()).url)
  const setPace = (change: string) => runAt(inject('adminUrl'), change, 'SELECT pg_reload_conf()')
  expect(await filesWith(client, mark)).toEqual(expect.arrayContaining(['users', 'users_email_key_key', 'profiles']))
  // In production autovacuum runs once a minute. The settings of each table decide whether it is vacuumed.
  await setPace(`ALTER SYSTEM SET autovacuum_naptime = '1s'`)
  onTestFinished(() => setPace('ALTER SYSTEM RESET autovacuum_naptime'))
  await withdraw(caller)
  for (const wait of [5 * minute, hour, day]) await pass(ctx, wait)
  expect(mailsTo(ctx, caller.email, 'account-withdrawal-started')).toHaveLength(1)
  expect(ctx.archived.size).toBe(0)
  await expect.poll(() => filesWith(client, mark), { timeout: 90_000, interval: 500 }).toEqual([])
}, 120_000)

const PAGE_BYTES = 8192

/** The tables, indexes and TOAST tables whose files hold this text in the parts of their pages that are in use. */
async function filesWith(client: pg.Client, text: string): Promise<string[]> {
  await client.query('CHECKPOINT')
  const { rows: settings } = await client.query<{ data_directory: string }>('SHOW data_directory')
  const { rows: files } = await client.query<{ name: string; file: string }>(
    `SELECT relname AS name, pg_relation_filepath(oid) AS file FROM pg_class
     WHERE relkind IN ('r', 'i', 't') AND relnamespace IN ('public'::regnamespace, 'pg_toast'::regnamespace)
       AND relfilenode <> 0`,
  )
  const contents = await Promise.all(
    files.map(({ file }) => readFile(path.join(settings[0]?.data_directory ?? '', file)).catch(() => Buffer.alloc(0))),
  )
  expect(contents.filter(({ length }) => length > 0).length).toBeGreaterThan(10)
  return files.filter((_, n) => usedPartsOf(contents[n] ?? Buffer.alloc(0)).includes(text)).map(({ name }) => name)
}

/** Without the free space between the pointers and the rows of each page: what it held before stays there until it is written anew. */
function usedPartsOf(file: Buffer): Buffer {
  for (let page = 0; page + PAGE_BYTES <= file.length; page += PAGE_BYTES) {
    const [lower, upper] = [file.readUInt16LE(page + 12), file.readUInt16LE(page + 14)]
    file.fill(0, page + lower, page + upper)
  }
  return file
}
