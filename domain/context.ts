import type { Scope } from '@/contract/define'
import type { VerificationMethod } from '@/contract/email'
import type { PrismaClient } from '@/prisma/generated/client'
import type { Limits } from './limits'

/** One prepared statement; PostgreSQL keeps its plan under `name`. */
export interface Statement {
  name: string
  text: string
  /** How long the answer is waited for, where that is longer than usual. The database has its own limit, `statement_timeout`. */
  timeoutMs?: number
}

/** Runs one statement, which is one transaction. Rows carry the column names of the statement. */
export type Sql = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>

export interface Clock {
  now(): Date
}

/** What a MAC is for; two purposes never share one. */
export type MacPurpose = 'verification-code' | 'session-token' | 'status-token' | 'pseudonym' | 'idempotency'

/** A MAC as base64url, for patterns. Its last character holds four bits: with any character in its place one MAC had four texts. */
export const MAC_TEXT = '[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]'

export interface Secrets {
  /** `prefix` and 128 random bits, URL-safe. */
  randomId(prefix: string): string
  /** 256 random bits, URL-safe. */
  randomToken(): string
  /** Six digits, uniform over 000000–999999. */
  randomCode(): string
  /** With the newest key. */
  mac(purpose: MacPurpose, text: string): Buffer
  /** With every key that is still configured, the newest first. */
  macs(purpose: MacPurpose, text: string): Buffer[]
  /** Constant time, with any key that is still configured. */
  macMatches(purpose: MacPurpose, text: string, mac: Uint8Array): boolean
  /** Encrypts with the newest key that is not in the database. */
  seal(content: Uint8Array | string): Buffer
  /** Null when no configured key opens it. */
  open(sealed: Uint8Array): Buffer | null
}

export interface Passwords {
  hash(password: string): Promise<string>
  /** Without a hash, false after the same work: an unknown account takes as long as a known one. */
  verify(hash: string | undefined, password: string): Promise<boolean>
}

export type Message =
  | {
      template: 'verify-new-email'
      userName: string
      currentEmail: string
      newEmail: string
      code: string
      link: string
      validMs: number
      firstMethod: VerificationMethod
    }
  | {
      template: 'email-changed'
      userName: string
      oldEmail: string
      newEmail: string
      changedAt: Date
      ipAddress: string
    }
  | {
      template: 'email-change-requested'
      userName: string
      newEmailMasked: string
      requestedAt: Date
      ipAddress: string
    }
  | {
      template: 'account-withdrawal-started'
      userName: string
      progressUrl: string
      scheduledCompletion: Date
      retentionDays: number
    }

/** `refused`: the mail server will never take this message for this recipient. `deferred`: not now, for whatever reason. */
export type MailOutcome = 'accepted' | 'deferred' | 'refused'

export interface Mail {
  /** One try. `id` is stable over repeated tries of the same message. */
  send(mail: { to: string; id: string; userId: string; message: Message }): Promise<MailOutcome>
  /** Removes what a local mailbox keeps of this user. */
  forget(userId: string): Promise<void>
}

/** Where encrypted copies of users' data are kept. */
export interface ArchiveStore {
  put(objectKey: string, content: Uint8Array): Promise<void>
  exists(objectKey: string): Promise<boolean>
  /** An object that is not there is no error: a run that was killed may have deleted it. Ask `exists` before the first try. */
  delete(objectKey: string): Promise<void>
}

/** One withdrawal in the erasure ledger: enough to carry it out again, and nothing that names the person. */
export interface LedgerEntry {
  withdrawalId: string
  /** The keyed pseudonym of the user id. */
  pseudonym: string
  /** ISO 8601 */
  startedAt: string
  keeps: { analytics: boolean; auditLogs: boolean; transactionHistory: boolean }
}

/** Kept outside the database and its backups, so that a restored backup cannot bring people back. */
export interface ErasureLedger {
  append(entries: LedgerEntry[]): Promise<void>
  read(): Promise<LedgerEntry[]>
}

export interface AppRequest {
  endpoint: string
  headers: Record<string, string>
  body: string
}

/** Status 0: no answer, for the reason that `problem` names. */
export interface AppAnswer {
  status: number
  problem?: string
  retryAfterMs?: number
}

/** Whose token it is; null when it is not a good token of that issuer. Throws SERVER_002 when that cannot be found out. */
export interface OutsideIssuer {
  verify(token: string): Promise<{ userId: string; scopes: Scope[]; expiresAt: Date } | null>
}

export interface EngineEvent {
  /** The engine recognises a repetition by it. */
  id: string
  name: string
  /** Ids only. */
  data: Record<string, string>
}

/** What names a caller, known without the database. */
export interface Credential {
  kind: 'access_token' | 'session' | 'outside_token'
  /** What its row is found by: the token's hash, the session's id, the user's id. */
  key: Buffer | string
  /** Null where the row tells them. */
  scopes: readonly Scope[] | null
  /** An outside issuer's token has no row that a withdrawal could end; it is remembered by hash and expiry. */
  outsideToken?: { hash: Buffer; expiresAt: Date }
}

/** A statement that finds the caller, one for each kind of credential; made by `callerStatement`. */
export type CallerStatement = Record<Credential['kind'], Statement>

export interface PendingChange {
  id: string
  newEmail: string
  method: VerificationMethod
  attempts: number
  requestedAt: Date
  sentAt: Date
  expiresAt: Date
}

/** Who calls, with the user and the pending change as the statement that checked the token saw them. */
export interface Actor {
  kind: Credential['kind'] | 'status_token'
  /** Of the row behind the credential; empty where there is none. */
  id: string
  userId: string
  scopes: readonly Scope[]
  /** When the password was given for this session; undefined for other credentials. */
  signedInAt?: Date | undefined
  /** `version` as in the table. */
  user: { name: string; email: string; emailVerifiedAt: Date | null; version: number }
  pendingChange: PendingChange | null
  /** Set where a withdrawal ended the account: all that this credential still concerns. */
  withdrawal?: { id: string; madeTheCall: boolean }
  outsideToken?: Credential['outsideToken']
}

/** How full a bucket is; becomes the RateLimit headers. */
export interface BucketState {
  name: string
  places: number
  windowMs: number
  remaining: number
  /** When the next place comes free; now where none is taken. */
  resetsAt: Date
}

export interface SystemContext {
  sql: Sql
  /** Several statements as one; rolled back when `work` throws. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  db: PrismaClient
  clock: Clock
  secrets: Secrets
  passwords: Passwords
  mail: Mail
  /** Null where none is configured. */
  outsideIssuer: OutsideIssuer | null
  /** Null where none is configured: no archive can be written then. */
  archives: ArchiveStore | null
  ledger: ErasureLedger
  /** One request to a connected application; never throws. */
  callApp(request: AppRequest): Promise<AppAnswer>
  /** True when the engine took the events over. Null where none is configured: the timer works off the same rows untold. */
  emit: ((events: EngineEvent[]) => Promise<boolean>) | null
  limits: Limits
  /** Multiplies the windows of a withdrawal and the waits of jobs; 1 but for trials. */
  timeScale: number
  appUrl: string
  /** The work as a span of a trace, where traces are collected; attributes are ids and codes. */
  traced<T>(name: string, attributes: Record<string, string>, work: () => Promise<T>): Promise<T>
  /** One line in the log for the operator: ids, codes, counts and times only. */
  warn(event: string, facts: Record<string, string | number>): void
  /** Goes on after the answer; a failure is logged. */
  background(task: () => Promise<unknown>): void
}

export interface Context extends SystemContext {
  actor: Actor
  ip: string
  /** Buckets that this request looked at, for the answer's headers. */
  buckets: BucketState[]
}

/** A call whose caller is not known yet: the verb's first statement finds it as well, which spares a round trip. */
export interface Call extends SystemContext {
  /** Of the path; nobody else is let in. */
  userId: string
  ip: string
  /** Refuses who may not make the call, and then the verb's part of the statement has had no effect. */
  enter<Row extends object>(first?: CallerStatement, values?: unknown[]): Promise<{ ctx: Context; rows: Row[] }>
}

export const statement = (name: string, text: string): Statement => ({ name, text })

/**
 * As a column of a statement's rows: its commit does not wait for the disk. A crash of the database may lose it, never half of it,
 * and not where a later commit that waits has come through. See docs/decisions/0009.
 */
export const UNWAITED = `set_config('synchronous_commit', 'off', true)`

/** Whether the database itself told of it: then the statement has had no effect. A lost connection leaves that open. */
export const isUndone = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && error.severity === 'ERROR'

/** PostgreSQL's unique_violation on the named constraint or index. */
export const isUniqueViolation = (error: unknown, constraint: string): boolean =>
  error instanceof Error &&
  'constraint' in error &&
  'code' in error &&
  error.code === '23505' &&
  error.constraint === constraint
