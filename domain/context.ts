import type { Scope } from '@/contract/define'
import type { VerificationMethod } from '@/contract/email'
import type { PrismaClient } from '@/prisma/generated/client'
import type { Limits } from './limits/limits'
import type { Sql } from './sql'

export type { Sql } from './sql'

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
  /** Whether the newest key opens it, so that older keys are not needed for it. */
  isSealedWithNewest(sealed: Uint8Array): boolean
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
  user: { name: string; email: string; emailVerifiedAt: Date | null }
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
  /**
   * Set where the call has an Idempotency-Key. Keeps the answer in the transaction of its effect, so that a crash never leaves one
   * without the other; refuses where the key has meanwhile passed to a repeated call.
   */
  keepAnswer?(sql: Sql, data: object): Promise<void>
}

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
