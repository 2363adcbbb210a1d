import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import * as z from 'zod'
import type { Data, GrantableScope, Input } from '@/contract/define'
import type { changeEmail as changeContract } from '@/contract/email'
import { DEFAULT_VERIFICATION_METHOD, MIN_NEW_PASSWORD_LENGTH } from '@/contract/vocabulary'
import type { withdrawAccount as withdrawContract } from '@/contract/withdrawal'
import { createUser } from '@/domain/accounts/user'
import { writeArchive } from '@/domain/applications/archives'
import { connectApp } from '@/domain/applications/connect'
import { type AppChanges, registerApp } from '@/domain/applications/manage'
import {
  type Actor,
  type Context,
  type Credential,
  type LinkContext,
  type SystemContext,
  type Transacted,
  transaction,
} from '@/domain/context'
import { DUE_WORK } from '@/domain/due-work'
import { changeEmail } from '@/domain/email/change-email'
import { verifyEmail } from '@/domain/email/verify-email'
import type { Limits } from '@/domain/limits/limits'
import type {
  AppAnswer,
  AppRequest,
  ArchiveStore,
  Clock,
  EngineEvent,
  LedgerStore,
  Mail,
  Message,
} from '@/domain/ports'
import { createProcess } from '@/domain/process'
import { issueAccessToken } from '@/domain/sessions/access-tokens'
import { readCredential, sessionCredential } from '@/domain/sessions/authenticate'
import { findCaller } from '@/domain/sessions/caller'
import { startSession } from '@/domain/sessions/sessions'
import { authenticateWithdrawn } from '@/domain/withdrawal/authenticate-withdrawn'
import { getWithdrawalStatus } from '@/domain/withdrawal/get-withdrawal-status'
import type { LedgerLine } from '@/domain/withdrawal/ledger/erasure-ledger'
import { createStatusToken } from '@/domain/withdrawal/status-token'
import { withdrawAccount } from '@/domain/withdrawal/withdraw-account'
import { createEndpointRule } from '@/server/adapters/app-caller'
import { type Database, openDatabase } from '@/server/adapters/database'
import { createPasswords } from '@/server/adapters/passwords'
import { createSecrets } from '@/server/adapters/secrets'
import { LIMIT_FIELDS, limitSettings } from '@/server/settings/limit-settings'
import { createDatabase } from './database'
import { rawSql } from './raw-sql'
import { atStatement, checkingRows, wrapping } from './statements'

export interface Mailed {
  to: string
  id: string
  locale: string | null
  message: Message
}

/** The origin of the adopter's own pages. */
/** Those of an installation that sets none. */
export const { limits: LIMITS } = limitSettings(z.object(LIMIT_FIELDS).parse({}))

export const PAGE_ORIGIN = 'https://app.example.com'

export interface TestContext extends SystemContext {
  clock: Clock & { advance(ms: number): void }
  mailbox: Mailed[]
  /** Whether the mail server accepts the next messages, and otherwise whether it refuses them permanently. */
  mailServer: { accepts: boolean; refusesForGood: boolean }
  archives: ArchiveStore
  /** The objects in the archive store of this context. */
  archived: Map<string, Uint8Array>
  /** The objects of the erasure ledger of this context. */
  ledgered: Map<string, string>
  /** The answer of the connected applications. */
  apps: { answer(request: AppRequest): Promise<AppAnswer> }
  engine: { accepts: boolean; events: EngineEvent[] }
  /** The warnings that were logged for the operator. */
  warnings: { event: string; [fact: string]: string | number }[]
  ping: Database['ping']
  /** Waits for all background tasks. */
  settle(): Promise<void>
}

export interface TestUser {
  userId: string
  email: string
  password: string
  sessionId: string
}

interface TestDatabase {
  url: string
  open: Database
}

let ofFile: { path: string | undefined; database: Promise<TestDatabase> } | undefined

/** A migrated database for this test file. A worker runs several files one after the other. */
export function testDatabase(): Promise<TestDatabase> {
  const path = expect.getState().testPath
  if (!ofFile || ofFile.path !== path) {
    ofFile?.database.then(({ open }) => open.close())
    ofFile = { path, database: cloneDatabase() }
  }
  return ofFile.database
}

/** The end of the run drops it. */
async function cloneDatabase(): Promise<TestDatabase> {
  const url = await createDatabase()
  return { url, open: openDatabase(url, undefined, { patience: 4 }) }
}

/** A context with the real database and hashing, a clock that tests advance, and a mail server that keeps its messages. */
export async function testContext(limits: Partial<Limits> = {}): Promise<TestContext> {
  const { open } = await testDatabase()
  let now = Date.parse('2026-11-20T09:00:00.000Z')
  const mailbox: Mailed[] = []
  const mailServer = { accepts: true, refusesForGood: false }
  const archived = new Map<string, Uint8Array>()
  const ledgered = new Map<string, string>()
  const warnings: TestContext['warnings'] = []
  const engine = { accepts: true, events: [] as EngineEvent[] }
  const apps: TestContext['apps'] = { answer: async () => ({ status: 204 }) }
  return {
    sql: checkingRows(open.sql),
    transaction,
    transact: wrapping(open.transact, checkingRows),
    db: open.db,
    ping: open.ping,
    process: createProcess(),
    clock: {
      now: () => new Date(now),
      advance: (ms) => {
        now += ms
      },
    },
    secrets: createSecrets({ auth: ['auth-secret-for-tests'], code: ['code-secret-for-tests'] }),
    passwords,
    newPasswords: { minLength: MIN_NEW_PASSWORD_LENGTH, product: 'Acme', breaches: null },
    mail: mailInto(mailbox, mailServer),
    mailEvents: {},
    outsideIssuer: null,
    hasPasswordSignIn: true,
    identityProvider: null,
    freshSignIn: { maxOutsideAgeMs: null, requiredAcr: null },
    newDeviceMail: true,
    deletionByMail: true,
    archives: archivesIn(archived),
    archived,
    ledger: ledgerIn(ledgered),
    ledgered,
    problemOfEndpoint: createEndpointRule({ isProduction: false, allowsPrivateEndpoints: true }),
    allowsHttpLinks: false,
    waitsForLedger: true,
    callApp: (request) => apps.answer(request),
    apps,
    emit: async (events) => {
      if (engine.accepts) engine.events.push(...events)
      return engine.accepts
    },
    engine,
    auditCollector: null,
    warn: (event, facts) => void warnings.push({ event, ...facts }),
    warnings,
    timeScale: 1,
    statutoryPeriod: { months: 1, days: 0 },
    limits: { ...LIMITS, ...limits },
    appUrl: 'https://accounts.test',
    settingsUrl: null,
    authority: null,
    allowedOrigins: [PAGE_ORIGIN],
    traced: (_name, _attributes, work) => work(),
    mailbox,
    mailServer,
    ...backgroundTasks(),
  }
}

const mailInto = (mailbox: Mailed[], mailServer: TestContext['mailServer']): Mail => ({
  async send({ to, id, locale, message }) {
    if (!mailServer.accepts) return mailServer.refusesForGood ? 'refused' : 'deferred'
    mailbox.push({ to, id, locale, message })
    return 'accepted'
  },
  async deleteMessages() {},
})

/** The store of each object. The tests of a file share a database, so that one test may erase objects of another. */
const storesByKey = new Map<string, Map<string, Uint8Array>>()

const archivesIn = (objects: Map<string, Uint8Array>): ArchiveStore => ({
  async put(objectKey, content) {
    objects.set(objectKey, content)
    storesByKey.set(objectKey, objects)
  },
  exists: async (objectKey) => storesByKey.get(objectKey)?.has(objectKey) ?? false,
  async delete(objectKey) {
    storesByKey.get(objectKey)?.delete(objectKey)
  },
})

function backgroundTasks(): Pick<TestContext, 'background' | 'settle'> {
  const tasks = new Set<Promise<unknown>>()
  return {
    background(task) {
      // As in the service, a failed background task changes nothing for the caller.
      const ended: Promise<unknown> = task()
        .catch(() => {})
        .then(() => tasks.delete(ended))
      tasks.add(ended)
    },
    async settle() {
      while (tasks.size > 0) await Promise.all(tasks)
    },
  }
}

/** A context whose erasure ledger is empty, though the tests of the file share the database. */
export async function givenLedger(): Promise<TestContext> {
  const ctx = await testContext()
  await ctx.db.erasureLedgerBatch.deleteMany()
  await ctx.db.withdrawal.updateMany({ data: { ledgeredAt: ctx.clock.now(), ledgerSeq: null } })
  const origin = randomBytes(8).toString('hex')
  await ctx.db.erasureLedgerHead.updateMany({ data: { origin, seq: 0, hash: '', batchSeq: 0, at: null } })
  return ctx
}

/** Runs `meanwhile`, then puts the database back to where it was, as a backup or a replica that lagged does. */
export async function restored<T>(ctx: TestContext, meanwhile: () => Promise<T>): Promise<T> {
  const ledger = await ctx.db.erasureLedgerHead.findFirstOrThrow()
  const [users, keys] = [await ctx.db.user.findMany(), await ctx.db.signingKey.findMany()]
  const known = (await ctx.db.withdrawal.findMany()).map(({ id }) => id)
  const done = await meanwhile()
  await ctx.settle()
  await ctx.db.withdrawal.deleteMany({ where: { id: { notIn: known } } })
  await ctx.db.outboxEvent.deleteMany()
  await ctx.db.user.deleteMany()
  await ctx.db.user.createMany({ data: users })
  await ctx.db.signingKey.deleteMany({ where: { number: { notIn: keys.map(({ number }) => number) } } })
  await ctx.db.erasureLedgerHead.updateMany({ data: ledger })
  ctx.process.signing.readAt = Number.NEGATIVE_INFINITY
  return done
}

/** As a share that is no longer mounted, until the returned function is called. */
export function unmountLedger({ ledgered }: Pick<TestContext, 'ledgered'>): () => void {
  const mounted = [...ledgered]
  ledgered.clear()
  return () => {
    for (const [name, content] of mounted) ledgered.set(name, content)
  }
}

const ledgerIn = (objects: Map<string, string>): LedgerStore => ({
  async put(name, content) {
    objects.set(name, content)
  },
  async add(name, content) {
    if (objects.has(name)) return false
    await this.put(name, content)
    return true
  },
  get: async (name) => objects.get(name) ?? null,
  async *list(folder, after = '') {
    yield* [...objects.keys()].filter((name) => name.startsWith(`${folder}/`) && name > after).sort()
  },
  async delete(name) {
    objects.delete(name)
  },
  async *earlierLines() {},
})

/** The lines of the erasure ledger of this context. */
export const ledgerLines = ({ ledgered }: TestContext): LedgerLine[] =>
  [...ledgered]
    .filter(([name]) => name.endsWith('.ndjson'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, lines]) => lines.trimEnd().split('\n'))
    .map((line) => JSON.parse(line))

const hashing = createPasswords()
const password = 'correct horse battery'
let passwordHash: Promise<string> | undefined

/** Real hashing, but the password of all users is hashed once. */
const passwords: typeof hashing = {
  ...hashing,
  hash(given) {
    if (given !== password) return hashing.hash(given)
    passwordHash ??= hashing.hash(given)
    return passwordHash
  },
}

export async function givenUser(
  ctx: TestContext,
  email = `ada-${randomBytes(6).toString('hex')}@example.test`,
): Promise<TestUser> {
  const userId = await createUser(ctx, { email, password, name: 'Ada Lovelace', emailVerified: true })
  return { userId, email, password, sessionId: await givenSession(ctx, userId) }
}

export async function givenSession(
  ctx: TestContext,
  userId: string,
  client = { userAgent: 'test', ip: '192.0.2.1' },
): Promise<string> {
  const { credentialVersion } = await ctx.db.user.findUniqueOrThrow({ where: { id: userId } })
  const authenticatedAt = ctx.clock.now()
  const sessionId = await startSession(ctx, { userId, credentialVersion, authenticatedAt, ...client })
  if (!sessionId) throw new Error('no session for this user')
  return sessionId
}

/** The context of a request by this user, as the wrapper makes it. */
export const asUser = (ctx: TestContext, user: TestUser): Promise<Context> =>
  asCaller(ctx, sessionCredential(user.sessionId))

/** A call that no credential of an account opens. */
export const asNobody = (ctx: TestContext, linkToken = '', ip = '192.0.2.1'): LinkContext => ({
  ...ctx,
  ip,
  userAgent: 'test',
  buckets: [],
  linkToken,
})

/** The actor of this token; null when the token is not valid. */
export async function authenticate(
  ctx: SystemContext,
  token: string,
  origin: string | null = null,
): Promise<Actor | null> {
  const credential = await readCredential(ctx, token, origin)
  return credential && findCaller(ctx, credential)
}

export async function asCaller(ctx: TestContext, credential: Credential): Promise<Context> {
  const actor = await findCaller(ctx, credential)
  if (!actor) throw new Error('the session has ended')
  return { ...ctx, actor, ip: '192.0.2.1', userAgent: 'test', buckets: [] }
}

/** The context of a request with a new access token of this user. */
export async function asToken(ctx: TestContext, userId: string, scopes: GrantableScope[]): Promise<Context> {
  const token = { userId, name: 'test', scopes, expiresInMs: 3_600_000, actor: 'operator' }
  const { accessToken } = await issueAccessToken(ctx, token)
  return asCaller(ctx, (await readCredential(ctx, accessToken, null)) as Credential)
}

export const asService = (ctx: TestContext): Context => ({
  ...ctx,
  actor: { kind: 'service_token', id: 'svt_1', userId: '', externalId: null, scopes: [] } as unknown as Actor,
  ip: '192.0.2.1',
  userAgent: 'test',
  buckets: [],
})

export interface PendingTestChange extends Data<typeof changeContract> {
  code: string
}

/** The verb's input when a caller leaves out the verification method. */
export const changeInput = (user: TestUser, newEmail: string, password = user.password) => ({
  userId: user.userId,
  new_email: newEmail,
  current_password: password,
  verification_method: DEFAULT_VERIFICATION_METHOD,
})

/** A pending change, with the code that was mailed. */
export async function givenPendingChange(
  ctx: TestContext,
  user: TestUser,
  newEmail = `new-${user.email}`,
): Promise<PendingTestChange> {
  const data = await changeEmail(await asUser(ctx, user), changeInput(user, newEmail))
  await ctx.settle()
  return { ...data, code: codeSentTo(ctx, newEmail) }
}

/** The change is verified with its code, and what follows at once has been done. */
export async function givenVerifiedChange(ctx: TestContext, user: TestUser, newEmail?: string) {
  const pending = await givenPendingChange(ctx, user, newEmail)
  await verifyChange(ctx, user, pending)
  await ctx.settle()
  return pending
}

/** The person sends a code for the change: the one that was mailed, or another. */
export async function verifyChange(
  ctx: TestContext,
  user: TestUser,
  { change_request_id, code }: Pick<PendingTestChange, 'change_request_id' | 'code'>,
  verification_code = code,
) {
  return verifyEmail(await asUser(ctx, user), { userId: user.userId, change_request_id, verification_code })
}

/** The code of the newest verification message to this address. */
export function codeSentTo(ctx: TestContext, email: string): string {
  const mailed = ctx.mailbox.findLast(({ to, message }) => to === email && message.template === 'verify-new-email')
  if (mailed?.message.template !== 'verify-new-email') throw new Error(`no verification message to ${email}`)
  return mailed.message.code
}

/** The token of the newest link for a new password that was mailed to this address. */
export function resetTokenTo(ctx: TestContext, email: string): string {
  const mailed = ctx.mailbox.findLast(({ to, message }) => to === email && message.template === 'password-reset')
  if (mailed?.message.template !== 'password-reset') throw new Error(`no link to ${email}`)
  return mailed.message.link.split('#token=')[1] ?? ''
}

/** Each application calls the user by the address, and shares an item with the service. */
export async function givenConnectedApps(ctx: TestContext, { userId, email }: TestUser, names: string[]) {
  for (const name of names) {
    const app = { name, endpoint: `https://${name}.test/hook`, secret: 'whsec_c2VjcmV0' }
    const { appId } = await registerApp(ctx, app)
    await connectApp(ctx, { userId, appId, subject: `${email} at ${name}` })
    const item = { id: `shr_${appId}`, userId, appId, content: email, sharedAt: ctx.clock.now() }
    await ctx.db.sharedItem.create({ data: item })
  }
}

/** An application that is told about everyone, and reports later unless it is said otherwise. Other tests of the file are told to it too. */
export async function givenParticipant(ctx: TestContext, name: string, settings: AppChanges = {}): Promise<string> {
  const { appId } = await registerApp(ctx, {
    name,
    endpoint: `https://${name}.test/hook`,
    secret: 'whsec_c2VjcmV0',
    audience: 'everyone',
    acknowledges: 'later',
    ...settings,
  })
  return appId
}

/** The person withdraws the account, and what follows at once has been done. */
export async function withdrawAs(
  ctx: TestContext,
  user: TestUser,
  choices: Omit<Input<typeof withdrawContract>, 'confirmation' | 'userId'> = {},
) {
  const input = { userId: user.userId, confirmation: 'DELETE_MY_ACCOUNT' as const, ...choices }
  const answer = await withdrawAccount(await asUser(ctx, user), input)
  await ctx.settle()
  return { id: answer.withdrawal_id, ...answer }
}

/** What the status token of a withdrawal reads. */
export async function readProgress(ctx: TestContext, userId: string, withdrawalId: string) {
  const path = { userId, withdrawalId }
  const actor = await authenticateWithdrawn(ctx, { token: createStatusToken(ctx, withdrawalId) }, path, 'reads')
  if (!actor) throw new Error('the status token opens nothing')
  return getWithdrawalStatus({ ...ctx, actor, ip: '', userAgent: '', buckets: [] }, path)
}

/** A user who withdraws, with an archive, feedback that contains the address, and connected applications. */
export async function givenWithdrawal(ctx: TestContext, apps: string[] = []) {
  const user = await givenUser(ctx)
  const { userId, email } = user
  await givenConnectedApps(ctx, user, apps)
  await writeArchive(ctx, userId)
  const { id: withdrawalId } = await withdrawAs(ctx, user, { reason: 'other', feedback: email })
  return { userId, email, withdrawalId }
}

/** The error code of the call, or `accepted`. */
export async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
  return 'accepted'
}

/** Waits until so many statements wait for a lock. */
export const untilWaiting = (ctx: Pick<TestContext, 'db'>, waiters = 1) =>
  expect
    .poll(async () => {
      const waiting = await ctx.db
        .$queryRaw`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return (waiting as unknown[]).length
    })
    // What goes on in the background may wait too.
    .toBeGreaterThanOrEqual(waiters)

/** Starts `waiting` while this row is locked, runs `meanwhile` under the lock once all waiters wait, and releases the lock. */
export async function heldUp<T>(
  ctx: TestContext,
  [table, id]: ['users' | 'email_change_requests' | 'notices', string],
  waiting: () => Promise<T>,
  meanwhile: (...of: Transacted) => Promise<unknown>,
  waiters = 1,
): Promise<T> {
  let ending: Promise<T> | undefined
  await ctx.transact(async (...of) => {
    await rawSql(of[0], `SELECT FROM ${table} WHERE id = $1 FOR UPDATE`, [id])
    ending = waiting()
    // Awaited below; it may be rejected before that.
    ending.catch(() => {})
    await untilWaiting(ctx, waiters)
    await meanwhile(...of)
  })
  return ending as Promise<T>
}

/** The context with a database that fails at this statement when one of its values is in `broken`. */
export const failingAt = (ctx: TestContext, name: string, broken: readonly unknown[]): TestContext =>
  atStatement(ctx, name, async (run, values) => {
    if (Object.values(values).some((value) => broken.includes(value))) throw new Error('on purpose')
    return run()
  })

/** Runs all due work, as the timer would. */
export async function runDueWork(ctx: TestContext): Promise<void> {
  for (const { run } of DUE_WORK) await run(ctx).finally(() => ctx.settle())
}

/** Lets this time go by, and works off whatever is due then. */
export async function pass(ctx: TestContext, ms: number): Promise<void> {
  // What is under way ends first: time that jumps would take its lease away.
  await ctx.settle()
  ctx.clock.advance(ms)
  await runDueWork(ctx)
}

/** The tables with a row that contains this text. */
export async function tablesWith(ctx: TestContext, text: string): Promise<string[]> {
  const tables = await ctx.db.$queryRaw<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await ctx.db.$queryRawUnsafe<unknown[]>(
      `SELECT 1 FROM ${name} t WHERE strpos(to_jsonb(t)::text, $1) > 0 LIMIT 1`,
      text,
    )
    if (rows.length > 0) found.push(name)
  }
  return found.sort()
}

/** The token with every other last character. Three of them decode to the same bytes, because 43 characters have two spare bits. */
export const lookalikesOf = (token: string): string[] =>
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
    .map((last) => token.slice(0, -1) + last)
    .filter((text) => text !== token)

/** `000000` unless that is the code. */
export const wrongCode = (code: string) => (code === '000000' ? '000001' : '000000')

/** Counts each outcome: `{ accepted: 3, EMAIL_008: 97 }`. */
export const tally = (outcomes: string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(outcomes, (outcome) => outcome)].map(([outcome, all]) => [outcome, all.length]))
