import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import * as z from 'zod'
import { MIN_NEW_PASSWORD_LENGTH } from '@/contract/vocabulary'
import { createUser } from '@/domain/accounts/user'
import {
  type Actor,
  type Context,
  type Credential,
  type LinkContext,
  type SystemContext,
  transaction,
} from '@/domain/context'
import { DUE_WORK } from '@/domain/due-work'
import { day } from '@/domain/limits/durations'
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
import { sessionCredential } from '@/domain/sessions/authenticate'
import { findCaller } from '@/domain/sessions/caller'
import { startSession } from '@/domain/sessions/sessions'
import { createEndpointRule } from '@/server/adapters/app-caller'
import { type Database, openDatabase } from '@/server/adapters/database'
import { createPasswords } from '@/server/adapters/passwords'
import { createSecrets } from '@/server/adapters/secrets'
import { LIMIT_FIELDS, limitSettings } from '@/server/settings/limit-settings'
import { createDatabase } from './database'
import { checkingRows, wrapping } from './statements'

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

export async function asCaller(ctx: TestContext, credential: Credential): Promise<Context> {
  const actor = await findCaller(ctx, credential)
  if (!actor) throw new Error('the session has ended')
  return { ...ctx, actor, ip: '192.0.2.1', userAgent: 'test', buckets: [] }
}

export const asService = (ctx: TestContext): Context => ({
  ...ctx,
  actor: { kind: 'service_token', id: 'svt_1', userId: '', externalId: null, scopes: [] } as unknown as Actor,
  ip: '192.0.2.1',
  userAgent: 'test',
  buckets: [],
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

/** Lets so many days go by, each with the work that is due on it. */
export async function passDays(ctx: TestContext, days: number): Promise<void> {
  for (let passed = 0; passed < days; passed++) await pass(ctx, day)
}
