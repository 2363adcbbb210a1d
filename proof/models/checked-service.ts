import { createHash } from 'node:crypto'
import pg from 'pg'
import pino from 'pino'
import { parseAddress } from '@/contract/address'
import { createUser, setPassword } from '@/domain/accounts/user'
import { connectApp } from '@/domain/applications/connect'
import { registerApp } from '@/domain/applications/manage'
import { addTransaction } from '@/domain/applications/transactions'
import type { Transacted } from '@/domain/context'
import { macsOfCode } from '@/domain/email/verification-code'
import { pseudonymousBucket } from '@/domain/limits/buckets'
import { signIn } from '@/domain/passwords/sign-in'
import { issueAccessToken } from '@/domain/sessions/access-tokens'
import { sha256 } from '@/domain/sessions/authenticate'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import type { Sql } from '@/domain/sql'
import { createStatusToken } from '@/domain/withdrawal/status-token'
import { api } from '@/server/http/api'
import { processState } from '@/server/process-state'
import { givenSession, LIMITS, runDueWork, type TestContext, testContext, testDatabase } from '@/testing/domain'
import { installContext } from '@/testing/install-context'
import { type Acknowledged, type AppCall, type GivenAnswer, OBSERVER, type SentMail } from './invariants'
import {
  type Account,
  type Call,
  type Credential,
  live,
  type Outcome,
  type Pending,
  type State,
  TARGET_BUCKETS,
  UNDO_WINDOW,
  USER_BUCKETS,
  type Withdrawal,
} from './model'

const DAY = 86_400_000
const TOKEN_LIFETIME_MS = 60 * DAY

/** At the nth statement the process dies, or only its connection is cut; the statement's effect is there (`after`) or not. */
export interface Fault {
  at: number
  mode: 'dies before' | 'dies after' | 'cut before' | 'cut after'
}

export interface Answered extends Outcome {
  /** The token of a new session. */
  sessionId?: string
}

type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>

let observed: Promise<Query> | undefined

/** The database of this file, with the observer in it. */
function database(): Promise<Query> {
  observed ??= testDatabase().then(async ({ url }) => {
    const pool = new pg.Pool({ connectionString: url, max: 4, allowExitOnIdle: true })
    pool.on('error', () => {})
    await pool.query(OBSERVER)
    return async (text, values) => (await pool.query(text, values)).rows
  })
  return observed
}

/** The real endpoints on the real database. The clock, the mail server, the application and faults are under control of the test. */
export class Service {
  readonly mails: SentMail[] = []
  readonly appCalls: AppCall[] = []
  readonly answers: GivenAnswer[] = []
  readonly acknowledged: Acknowledged[] = []
  readonly logged: string[] = []
  readonly tokens: string[] = []
  readonly passwords = new Set<string>()
  private fault: Fault | null = null
  private isDead = false
  private running = 0
  private appUp = true

  private constructor(
    readonly ctx: TestContext,
    readonly query: Query,
    readonly addresses: string[],
  ) {}

  static async begin(mark: string, users: number): Promise<{ service: Service; state: State }> {
    const query = await database()
    const tables = await query<{ name: string }>(
      `SELECT schemaname || '.' || tablename AS name FROM pg_tables
       WHERE schemaname IN ('public', 'proof') AND tablename NOT LIKE '\\_%'`,
    )
    await query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`)
    // The store of the ledger is new, too.
    await query(`INSERT INTO erasure_ledger (origin) VALUES ('${mark}')`)
    const addresses = Array.from({ length: users + 2 }, (_, n) => `a${n}-${mark}@example.test`)
    // The model knows how long a session lives, and not what counts as its use.
    const ctx = await testContext({ sessionIdleMs: LIMITS.sessionLifetimeMs })
    const service = new Service(ctx, query, addresses)
    service.equip()
    return { service, state: await service.populate(users) }
  }

  private equip() {
    const { ctx } = this
    const { sql, transact, mail } = ctx
    const digest = (password: string) => createHash('sha256').update(password).digest('hex')
    Object.assign(ctx, {
      sql: this.faulty(sql),
      transact: async (work: (...of: Transacted) => Promise<unknown>) => {
        this.requireLife()
        this.running++
        return transact(async (sql, afterCommit) => {
          afterCommit(() => this.strike('after'))
          const value = await work(this.faulty(sql), afterCommit)
          this.strike('before')
          return value
        }).finally(() => this.running--)
      },
      // Hashing would take most of the time, and has tests of its own.
      passwords: {
        hash: async (password: string) => digest(password),
        verify: async (hash: string | undefined, password: string) => hash === digest(password),
      },
      mail: {
        ...mail,
        send: async (sent: Parameters<typeof mail.send>[0]) => {
          this.requireLife()
          const outcome = await mail.send(sent)
          const { to, id, message } = sent
          const code = message.template === 'verify-new-email' ? message.code : undefined
          if (outcome === 'accepted') this.mails.push({ to, id, template: message.template, code, at: ctx.clock.now() })
          return outcome
        },
      },
      callApp: async ({ endpoint, headers, body }: Parameters<typeof ctx.callApp>[0]) => {
        if (this.isDead) return { status: 0, problem: 'dead' }
        const { data } = JSON.parse(body) as { data: { withdrawal_id: string } }
        this.appCalls.push({ app: endpoint, id: headers['webhook-id'] ?? '', withdrawalId: data.withdrawal_id })
        return { status: this.appUp ? 204 : 503 }
      },
    })
    installContext(ctx)
    processState.log = pino({ level: 'debug', base: null }, { write: (line: string) => void this.logged.push(line) })
  }

  private async populate(users: number): Promise<State> {
    const { ctx } = this
    const { appId } = await registerApp(ctx, { name: 'shop', endpoint: 'https://shop.test', secret: 'whsec_c2VjcmV0' })
    const accounts: Account[] = []
    for (let user = 0; user < users; user++) {
      const email = this.addresses[user] as string
      const password = `password ${user} of ${email}`
      const id = await createUser(ctx, { email, password, name: 'Ada', emailVerified: true })
      const { accessToken, expiresAt } = await issueAccessToken(ctx, {
        userId: id,
        name: 'proof',
        scopes: ['email:manage', 'account:manage'],
        expiresInMs: TOKEN_LIFETIME_MS,
        actor: 'operator',
      })
      this.tokens.push(accessToken)
      this.passwords.add(password)
      await connectApp(ctx, { userId: id, appId, subject: `subject ${user}` })
      const item = { id: `shr_${id}`, userId: id, appId, content: 'shared', sharedAt: ctx.clock.now() }
      await ctx.db.sharedItem.create({ data: item })
      const sessions = []
      for (let place = 0; place < 2; place++) {
        const expiresAt = ctx.clock.now().getTime() + 30 * DAY
        sessions.push({ id: await givenSession(ctx, id), expiresAt, ended: false })
      }
      accounts.push({
        id,
        email,
        password,
        sessions,
        token: { expiresAt: expiresAt.getTime(), ended: false },
        pending: null,
        hits: { change: [], password: [], passwordDay: [], taken: [], verify: [], withdraw: [] },
        held: [],
        pendingTransactions: 0,
        withdrawal: null,
      })
    }
    return { now: ctx.clock.now().getTime(), mailUp: true, appUp: true, accounts, targets: {}, signIns: {} }
  }

  private requireLife() {
    if (this.isDead) throw connectionLost()
  }

  /** Counts the statements, and fails at the one of the fault. */
  private strike(when: 'before' | 'after') {
    this.requireLife()
    const { fault } = this
    if (!fault) return
    if (when === 'before') fault.at--
    if (fault.at !== 0 || !fault.mode.endsWith(when)) return
    this.isDead = fault.mode.startsWith('dies')
    fault.at = -1
    throw connectionLost()
  }

  private faulty =
    (sql: Sql): Sql =>
    async (statement, values) => {
      this.strike('before')
      this.running++
      const rows = await sql(statement, values).finally(() => this.running--)
      this.strike('after')
      return rows as never
    }

  /** Side by side, with all that goes on after the answers. With a fault the answers of a dead process do not count. */
  async perform(state: State, calls: Call[], fault: Fault | null = null): Promise<Answered[]> {
    this.fault = fault && { ...fault }
    this.appUp = state.appUp
    this.ctx.mailServer.accepts = state.mailUp
    try {
      const answers = await Promise.all(calls.map((call) => this.performOne(state, call)))
      await this.drain()
      return answers
    } finally {
      this.fault = null
      this.isDead = false
    }
  }

  /** Waits for all work of the step, because a refused call leaves the work beside it running. */
  private async drain() {
    await this.ctx.settle()
    for (let quietTurns = 0; quietTurns < 3; quietTurns++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (this.running > 0) quietTurns = 0
    }
    await this.ctx.settle()
  }

  private async performOne(state: State, call: Call): Promise<Answered> {
    const { ctx } = this
    if (call.do === 'sweep') return toOutcome(runDueWork(ctx))
    const account = state.accounts[call.user] as Account
    const userId = account.id
    switch (call.do) {
      case 'signIn': {
        const input = { email: call.email, password: call.password, userAgent: 'proof', ip: `192.0.2.${call.user}` }
        const started = signIn(ctx, input).then((session) => {
          if (!session) throw Object.assign(new Error('not signed in'), { code: 'wrong' })
          return { sessionId: session.sessionId }
        })
        return toOutcome(started)
      }
      case 'setPassword':
        this.passwords.add(call.password)
        return toOutcome(setPassword(ctx, { userId, password: call.password, keepTokens: call.keepTokens }))
      case 'addTransaction': {
        const details = { title: 'a book', ip: '192.0.2.9' }
        return toOutcome(addTransaction(ctx, { userId, status: 'pending', ...details }))
      }
      case 'settle':
        await this.query(`UPDATE transactions SET status = 'settled' WHERE user_id = $1`, [userId])
        return { code: 'OK' }
    }
    const token = this.credentialOf(account, call.user, call.as)
    const { method, path, scope, body } = toRequest(account, call)
    const request = new Request(`http://localhost/api/v1/users/${userId}/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'X-Required-Scope': scope, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    const response = await api(request, '192.0.2.1')
    const answer = (await response.json()) as { data?: Record<string, unknown>; error?: { code: string } }
    const retryAfter = Number(response.headers.get('Retry-After')) || undefined
    if (!this.isDead) {
      this.answers.push({ status: response.status, body: answer })
      if (response.ok) this.note(call, account, answer.data as Record<string, string>)
    }
    return { code: response.ok ? 'OK' : (answer.error?.code ?? 'none'), retryAfter, data: answer.data }
  }

  private note(call: Call, { id: userId }: Account, data: Record<string, string>) {
    const { change_request_id: id = '', new_email: email = '', withdrawal_id: withdrawalId = '' } = data
    if (call.do === 'change') this.acknowledged.push({ what: 'change', id, email })
    if (call.do === 'verify') this.acknowledged.push({ what: 'verification', userId, email })
    if (call.do === 'withdraw') this.acknowledged.push({ what: 'withdrawal', id: withdrawalId, userId })
  }

  private credentialOf(account: Account, user: number, as: Credential | 'status token'): string {
    if (as === 'token') return this.tokens[user] as string
    if (as === 'status token') return createStatusToken(this.ctx, account.withdrawal?.id ?? 'wd_none')
    return createSessionToken(this.ctx, account.sessions[as]?.id ?? '').token
  }

  /** Reads the state from the database. What it does not hold comes from `known`. */
  async observe(known: State): Promise<State> {
    const now = this.ctx.clock.now().getTime()
    const { mailUp, appUp } = known
    const ids = known.accounts.map(({ id }) => id)
    const rows = await this.query<{ key: string; hits: Date[] }>('SELECT key, hits FROM rate_limits')
    const hitsOf = (key: string, name: Parameters<typeof live>[1]) =>
      live(rows.find((row) => row.key === key)?.hits.map((hit) => hit.getTime()) ?? [], name, now)
    const keyed = (name: 'target' | 'targetMail' | 'signIn', text: string) =>
      hitsOf(pseudonymousBucket(this.ctx, name, text).key, name)
    const [users, sessions, tokens, pendings, replaced, transactions] = await Promise.all([
      this.query<{ id: string; email: string; password_hash: string; withdrawn: boolean }>(
        'SELECT id, email, password_hash, withdrawn_at IS NOT NULL AS withdrawn FROM users',
      ),
      this.query<{ id: string; ended: boolean }>('SELECT id, revoked_at IS NOT NULL AS ended FROM sessions'),
      this.query<{ hash: Buffer; ended: boolean }>(
        'SELECT token_hash AS hash, revoked_at IS NOT NULL AS ended FROM access_tokens',
      ),
      this.query<PendingRow>(`SELECT * FROM email_change_requests WHERE status = 'pending_verification'`),
      this.query<{ user_id: string; email: string; at: Date }>(
        `SELECT user_id, old_email_key AS email, closed_at AS at FROM email_change_requests
         WHERE status = 'verified' AND old_email_key IS NOT NULL ORDER BY closed_at`,
      ),
      this.query<{ user_id: string; count: number }>(
        `SELECT user_id, count(*)::int AS count FROM transactions WHERE status = 'pending' GROUP BY user_id`,
      ),
    ])
    const withdrawals = await this.withdrawals(known)
    const accounts = known.accounts.map((account, user): Account => {
      const row = users.find(({ id, withdrawn }) => id === account.id && !withdrawn)
      const pending = pendings.find(({ user_id }) => user_id === account.id)
      return {
        ...account,
        email: row ? (parseAddress(row.email)?.key ?? '') : account.email,
        password: row ? this.passwordOf(row.password_hash) : account.password,
        sessions: account.sessions.map((session) => ({
          ...session,
          ended: sessions.find(({ id }) => id === session.id)?.ended ?? true,
        })),
        token: {
          ...account.token,
          ended:
            tokens.find(({ hash }) => hash.equals(sha256(this.tokens[user] as string)))?.ended ?? account.token.ended,
        },
        pending: pending ? this.toPending(pending) : null,
        held: replaced
          .filter(({ user_id }) => user_id === account.id)
          .map(({ email, at }) => ({ email, until: at.getTime() + UNDO_WINDOW })),
        hits: Object.fromEntries(
          USER_BUCKETS.map((name) => [name, hitsOf(`${name}:${ids[user]}`, name)]),
        ) as Account['hits'],
        pendingTransactions: transactions.find(({ user_id }) => user_id === account.id)?.count ?? 0,
        withdrawal: withdrawals.get(account.id) ?? null,
      }
    })
    const targets = this.addresses.map((email) => [
      email,
      Object.fromEntries(TARGET_BUCKETS.map((name) => [name, keyed(name, email)])),
    ])
    const signIns = ids.flatMap((_, user) =>
      this.addresses.map((email) => [`${email} ${user}`, keyed('signIn', `${email}\n192.0.2.${user}`)]),
    )
    return { now, mailUp, appUp, accounts, targets: Object.fromEntries(targets), signIns: Object.fromEntries(signIns) }
  }

  private passwordOf(hash: string): string {
    const found = [...this.passwords].find((one) => createHash('sha256').update(one).digest('hex') === hash)
    return found ?? 'unknown'
  }

  /** The code is the one that was mailed to the address, if any fits. */
  private toPending(row: PendingRow): Pending {
    const address = parseAddress(row.new_email)
    const codes = this.mails.flatMap(({ id, to, code }) =>
      id.startsWith(row.id) && to === address?.deliverable && code ? [code] : [],
    )
    return {
      id: row.id,
      email: row.new_email_key,
      requestedBy: row.requested_by,
      code:
        codes.findLast((code) => macsOfCode(this.ctx, row.id, code).some((mac) => mac.equals(row.code_mac))) ?? null,
      attempts: row.attempts,
      requestedAt: row.requested_at.getTime(),
      sentAt: row.sent_at.getTime(),
      expiresAt: row.expires_at.getTime(),
    }
  }

  private async withdrawals(known: State): Promise<Map<string, Withdrawal>> {
    const [started, credentials] = await Promise.all([
      this.query<WithdrawalRow>(
        `SELECT p.id, p.user_id, w.completed_at, w.purged_at FROM proof.withdrawals p JOIN withdrawals w USING (id)`,
      ),
      this.query<{ credential_hash: Buffer; withdrawal_id: string; made_the_call: boolean }>(
        'SELECT credential_hash, withdrawal_id, made_the_call FROM ended_credentials',
      ),
    ])
    return new Map(
      started.map((row) => {
        const user = known.accounts.findIndex(({ id }) => id === row.user_id)
        const isCredential = (as: Credential) => (one: (typeof credentials)[number]) =>
          one.withdrawal_id === row.id &&
          one.credential_hash.equals(
            sha256(as === 'token' ? (this.tokens[user] as string) : (known.accounts[user]?.sessions[as]?.id ?? '')),
          )
        const ended = ([0, 1, 'token'] as const).filter((as) => credentials.some(isCredential(as)))
        const withdrawal: Withdrawal = {
          id: row.id,
          caller: ended.find((as) => credentials.find(isCredential(as))?.made_the_call) ?? null,
          ended,
          completed: row.completed_at !== null,
          purged: row.purged_at !== null,
        }
        return [row.user_id, withdrawal]
      }),
    )
  }
}

interface PendingRow {
  id: string
  user_id: string
  new_email: string
  new_email_key: string
  requested_by: string | null
  code_mac: Buffer
  attempts: number
  requested_at: Date
  sent_at: Date
  expires_at: Date
}
interface WithdrawalRow {
  id: string
  user_id: string
  completed_at: Date | null
  purged_at: Date | null
}
/** As pg reports a connection that was lost. */
const connectionLost = () => Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' })

async function toOutcome(work: Promise<unknown>): Promise<Answered> {
  try {
    const value = await work
    return { code: 'OK', ...(typeof value === 'object' && value) }
  } catch (error) {
    return { code: String((error as { code?: string }).code ?? error) }
  }
}

type Sent = Exclude<Call, { do: 'signIn' | 'setPassword' | 'addTransaction' | 'settle' | 'sweep' }>

function toRequest(account: Account, call: Sent): { method: string; path: string; scope: string; body?: object } {
  const email = { scope: 'email:manage' }
  switch (call.do) {
    case 'change': {
      const body = { new_email: call.email, current_password: call.password }
      return { ...email, method: 'POST', path: 'email/change', body }
    }
    case 'verify': {
      const body = { change_request_id: call.request, verification_code: call.code }
      return { ...email, method: 'POST', path: 'email/verify', body }
    }
    case 'resend':
      return { ...email, method: 'POST', path: 'email/resend-verification', body: { change_request_id: call.request } }
    case 'cancel':
      return { ...email, method: 'DELETE', path: `email/change/${call.request}` }
    case 'status':
      return { ...email, method: 'GET', path: 'email/status' }
    case 'withdraw': {
      const body = { confirmation: call.confirmation }
      return { method: 'POST', path: 'withdraw', scope: 'account:manage', body }
    }
    case 'progress':
      return { method: 'GET', path: `withdrawal/${call.withdrawal}`, scope: 'account:manage' }
    case 'endSession': {
      const id = account.sessions[call.session]?.id
      return { method: 'DELETE', path: `sessions/${id}`, scope: 'tokens:manage' }
    }
    case 'endOthers':
      return { method: 'DELETE', path: 'sessions', scope: 'tokens:manage' }
  }
}
