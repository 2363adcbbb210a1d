import type { Purpose } from '@/contract/access'
import type { Scope, ServiceScope } from '@/contract/define'
import type { VerificationMethod } from '@/contract/email'
import type { PrismaClient } from '@/prisma/generated/client'
import type { Limits } from './limits/limits'
import type {
  AppAnswer,
  AppRequest,
  ArchiveStore,
  Clock,
  EngineEvent,
  IdentityProvider,
  LedgerStore,
  Mail,
  OutsideIssuer,
  Passwords,
  Secrets,
} from './ports'
import type { Process } from './process'
import type { Sql } from './sql'
import type { CalendarPeriod } from './withdrawal/due-date'

/** What an outside issuer's token says of the person's last sign-in there; null where it does not say. */
export interface ShownPresence {
  authenticatedAt: Date | null
  acr: string | null
}

/** What names a caller, known without the database. */
export interface Credential {
  kind: 'access_token' | 'session' | 'outside_token' | 'service_token'
  /** What its row is found by: the token's hash, the session's id, the id that an outside issuer calls the user by. */
  key: Buffer | string
  /** Null where the row tells them. */
  scopes: readonly Scope[] | null
  /** An outside issuer's token has no row that a withdrawal could end; it is remembered by hash and expiry. */
  outsideToken?: { hash: Buffer; expiresAt: Date; issuedAt: Date | null } & ShownPresence
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
  kind: Credential['kind'] | 'status_token' | 'report_token'
  /** Of the row behind the credential, the task of a report token among them; empty where there is none. */
  id: string
  /** Empty for a service token, which acts for no user. */
  userId: string
  externalId: string | null
  scopes: readonly (Scope | ServiceScope)[]
  /** When the person of this session was asked who they are; null where nobody knows, undefined for other credentials. */
  authenticatedAt?: Date | null | undefined
  /** The only purpose that this session's sign-in serves; null or undefined where it serves all. */
  authenticatedFor?: Purpose | null | undefined
  user: { name: string; email: string; emailVerifiedAt: Date | null; locale: string | null }
  pendingChange: PendingChange | null
  /** Set for a service token: the name that it acts under, and the hosts that URLs sent with it may name. */
  service?: { name: string; hosts: readonly string[] }
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

export interface FreshSignInSettings {
  /** How old the sign-in behind an outside token may be where the account is withdrawn; null: it is not asked. */
  maxOutsideAgeMs: number | null
  /** What the `acr` of outside tokens and of re-authentications has to be; null: anything. */
  requiredAcr: string | null
}

export interface SystemContext {
  sql: Sql
  /** Several statements as one; rolled back when `work` throws. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  db: PrismaClient
  process: Process
  clock: Clock
  secrets: Secrets
  passwords: Passwords
  mail: Mail
  /** Null where none is configured. */
  outsideIssuer: OutsideIssuer | null
  /** Whether people may sign in with a password of ours. */
  passwordSignIn: boolean
  /** Where people sign in without a password of ours; null where none is configured. */
  identityProvider: IdentityProvider | null
  freshSignIn: FreshSignInSettings
  /** Null where none is configured: no archive can be written then. */
  archives: ArchiveStore | null
  ledger: LedgerStore
  /** Why an application must not have this endpoint, as a sentence; null where it may. */
  problemOfEndpoint(endpoint: string): string | null
  /** One request to a connected application; never throws. */
  callApp(request: AppRequest): Promise<AppAnswer>
  /** True when the engine took the events over. Null where none is configured: the timer works off the same rows untold. */
  emit: ((events: EngineEvent[]) => Promise<boolean>) | null
  limits: Limits
  /** Multiplies the windows of a withdrawal and the waits of jobs; 1 but for trials. */
  timeScale: number
  /** From the start of a withdrawal to the day by which the law wants it done; the time scale does not change it. */
  statutoryPeriod: CalendarPeriod
  appUrl: string
  /** The work as a span of a trace, where traces are collected; attributes are ids and codes. */
  traced<T>(name: string, attributes: Record<string, string>, work: () => Promise<T>): Promise<T>
  /** One line in the log for the operator: ids, codes, counts and times only. */
  warn(event: string, facts: Record<string, string | number>): void
  /** Goes on after the answer; a failure is logged. */
  background(task: () => Promise<unknown>): void
}

/** Of a call that no credential of an account opens. */
export interface LinkContext extends SystemContext {
  ip: string
  /** Buckets that this request looked at, for the answer's headers. */
  buckets: BucketState[]
  /** The bearer token as it was sent; '' where it cannot be one, or none is asked for. */
  linkToken: string
}

export interface Context extends SystemContext {
  actor: Actor
  ip: string
  /** Buckets that this request looked at, for the answer's headers. */
  buckets: BucketState[]
  /** Binds what follows to the caller's browser, for so many seconds. Readable by the server alone. */
  setCookie?(name: string, value: string, seconds: number): void
  /**
   * Set where the call has an Idempotency-Key. Keeps the answer in the transaction of its effect, so that a crash never leaves one
   * without the other; refuses where the key has meanwhile passed to a repeated call.
   */
  keepAnswer?(sql: Sql, data: object): Promise<void>
}
