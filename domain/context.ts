import type { Purpose } from '@/contract/access'
import type { Scope, ServiceScope } from '@/contract/define'
import type { VerificationMethod } from '@/contract/email'
import type { Authority } from '@/contract/errors'
import type { DELIVERIES, MailSource } from '@/contract/vocabulary'
import type { PrismaClient } from '@/prisma/generated/client'
import type { CalendarPeriod } from './limits/due-date'
import type { Limits } from './limits/limits'
import type {
  AppAnswer,
  AppRequest,
  ArchiveStore,
  AuditRecord,
  BreachedPasswords,
  Clock,
  EngineEvent,
  IdentityProvider,
  LedgerStore,
  Mail,
  MailEventSource,
  OutsideIssuer,
  Passwords,
  Secrets,
} from './ports'
import type { Process } from './process'
import type { Sql } from './sql'

/** A caller's credential, as known without the database. */
export interface Credential {
  kind: 'access_token' | 'session' | 'outside_token' | 'page_token' | 'service_token'
  /** Finds the row: the token's hash, the session's id, or the user's id in a token without a row. */
  key: Buffer | string
  /** Null if they are read from the row. */
  scopes: readonly Scope[] | null
  /** An outside token or a page token has no row that a withdrawal could end, so the withdrawal stores its hash and expiry. */
  rowless?: {
    hash: Buffer
    expiresAt: Date
    issuedAt: Date | null
    /** Only of a page token: the state of the account's credentials that it was issued for. Any other state has ended it. */
    issuedFor?: { version: number; since: Date | null }
    /** Only of a page token: the service token that issued it, which it ends with. */
    issuedBy?: string
    /** What the token says of the person's last sign-in at its issuer; null if it says nothing. */
    authenticatedAt: Date | null
    acr: string | null
  }
}

export interface PendingChange {
  id: string
  newEmail: string
  method: VerificationMethod
  attempts: number
  requestedAt: Date
  sentAt: Date
  delivery: (typeof DELIVERIES)[number]
  expiresAt: Date
}

/** The facts that a mailed link is bound to. */
export interface Link {
  /** The id of the notice. It leads to the account but reveals nothing about it. */
  noticeId: string
  userId: string
  /** The key of the account's address: the link works only while the account has it. */
  emailKey: string
  /** Rises with every new password, so that a new password ends the link. */
  credentialVersion: number
  endsAt: Date
}

/** The caller, with the user and the pending change as the statement that checked the token read them. */
export interface Actor {
  kind: Credential['kind'] | 'status_token' | 'report_token' | 'mailed_link'
  /**
   * The id of the credential's row or, for a page token, of its service token, for a report token, of its task, or of the letter of a link;
   * empty if there is none.
   */
  id: string
  /** Empty for a service token, which acts for no user. */
  userId: string
  externalId: string | null
  scopes: readonly (Scope | ServiceScope)[]
  /** When the person of this session or page last signed in or confirmed who they are; null if unknown, undefined for other credentials. */
  authenticatedAt?: Date | null | undefined
  /** The only purpose that this session's sign-in serves; null or undefined if it serves all. */
  authenticatedFor?: Purpose | null | undefined
  /** Only of a browser session: its last use, to the hour. */
  lastSeenAt?: Date | undefined
  user: {
    name: string
    email: string
    emailVerifiedAt: Date | null
    /** Messages to the address come back. */
    isUndeliverable: boolean
    locale: string | null
  }
  pendingChange: PendingChange | null
  /** Only for a service token: its name, the hosts that URLs sent with it may name, and the application whose tasks it takes. */
  service?: { name: string; hosts: readonly string[]; appId: string | null }
  /** Only after a withdrawal: the one withdrawal that this credential still concerns. */
  withdrawal?: { id: string; madeTheCall: boolean }
  /** A mailed link has no row that a withdrawal could end either. */
  rowless?: Credential['rowless']
  /** Only for a mailed link: what it is bound to. */
  link?: Link
}

/** For the actor of a credential that stands for no open account. */
export const NO_ACCOUNT = {
  userId: '',
  externalId: null,
  user: { name: '', email: '', emailVerifiedAt: null, isUndeliverable: false, locale: null },
  pendingChange: null,
} satisfies Partial<Actor>

/** How full a bucket is, for the RateLimit headers. */
export interface BucketState {
  name: string
  places: number
  windowMs: number
  remaining: number
  /** When the next place comes free; now if none is taken. */
  resetsAt: Date
}

export interface FreshSignInSettings {
  /** For a withdrawal: the maximum age of the sign-in behind an outside token; null if it is not checked. */
  maxOutsideAgeMs: number | null
  /** The `acr` that outside tokens and re-authentications must have; null if any will do. */
  requiredAcr: string | null
}

/** What a new password has to be. */
export interface NewPasswordRules {
  minLength: number
  /** The product's name, which is no password. */
  product: string
  /** Null if none is configured. */
  breaches: BreachedPasswords | null
}

/** What there is inside a transaction and outside. */
export interface AnyContext {
  /** Inside, the statements of the transaction; outside, each statement is a transaction of its own. */
  sql: Sql
  clock: Clock
  secrets: Secrets
  passwords: Passwords
  newPasswords: NewPasswordRules
  /** Who may tell what became of messages; a source that is not configured is missing. */
  mailEvents: Partial<Record<MailSource, MailEventSource>>
  /** Null if none is configured. */
  outsideIssuer: OutsideIssuer | null
  /** Whether people may sign in with a password of ours. */
  hasPasswordSignIn: boolean
  /** Where people sign in without a password of ours; null if none is configured. */
  identityProvider: IdentityProvider | null
  freshSignIn: FreshSignInSettings
  /** Whether a mail tells of a sign-in from a new device. */
  newDeviceMail: boolean
  /** Whether a mailed link may delete an account. */
  deletionByMail: boolean
  /** Null if none is configured; then no archive can be written. */
  archives: ArchiveStore | null
  ledger: LedgerStore
  /** Whether a withdrawal is answered only once its line stands in the ledger. */
  waitsForLedger: boolean
  /** The reason why an application may not have this endpoint; null if it may. */
  problemOfEndpoint(endpoint: string): string | null
  /** Whether links that people are given may begin with http: only in local mode. */
  allowsHttpLinks: boolean
  /** True when the engine accepted the events. Null if none is configured; the timer works off the same rows. */
  emit: ((events: EngineEvent[]) => Promise<boolean>) | null
  /** Takes rows of the audit; throws if it did not. Null if no collector is configured. */
  auditCollector: ((records: AuditRecord[]) => Promise<void>) | null
  limits: Limits
  /** Multiplies the windows of a withdrawal and the waits of jobs; 1 except in trials. */
  timeScale: number
  /** From the start of a withdrawal to its legal deadline; the time scale does not change it. */
  statutoryPeriod: CalendarPeriod
  appUrl: string
  /** The adopter's own page of the settings, to which mails lead in place of ours; null if there is none. */
  settingsUrl: string | null
  /** Where people can complain about what is kept or held up; null if the adopter names nobody. */
  authority: Authority | null
  /** The origins whose pages may call the API. */
  allowedOrigins: readonly string[]
  /** Runs the work as a span of a trace, if traces are collected; attributes are ids and codes. */
  traced<T>(name: string, attributes: Record<string, string>, work: () => Promise<T>): Promise<T>
  /** Writes one line to the log for the operator: ids, codes, counts and times only. */
  warn(event: string, facts: Record<string, string | number>): void
  /** Only in a request: aborted once its client has gone. What may wait for long asks for it. */
  clientGone?(): AbortSignal | undefined
}

/** What the database gives to the work of a transaction: its statements, and `afterCommit`, which takes what begins once it has committed. */
export type Transacted = [sql: Sql, afterCommit: (effect: () => void) => void]
export type Transact = <T>(work: (...of: Transacted) => Promise<T>) => Promise<T>

export interface SystemContext extends AnyContext {
  /**
   * Runs several statements as one; rolled back when `work` throws. After a deadlock it runs again, so what has an effect elsewhere
   * belongs to `afterCommit`. `work` uses its own context and nothing of this one.
   */
  transaction<Ctx extends SystemContext, T>(this: Ctx, work: (tx: Transaction<Ctx>) => Promise<T>): Promise<T>
  /** What `transaction` runs on; nothing else calls it. */
  transact: Transact
  db: PrismaClient
  process: Process
  mail: Mail
  /** Sends one request to a connected application; never throws. */
  callApp(request: AppRequest): Promise<AppAnswer>
  /** Runs the task after the answer; a failure is logged. */
  background(task: () => Promise<unknown>): void
}

/** The context inside a transaction of `Ctx`: what must not happen before the commit is missing. */
export type Transaction<Ctx extends SystemContext = SystemContext> = Omit<
  Ctx,
  Exclude<keyof SystemContext, keyof AnyContext>
> & {
  /** Runs the effect in the background once the transaction has committed; never, if it does not. */
  afterCommit(effect: (ctx: Ctx) => Promise<unknown>): void
}

export const transaction: SystemContext['transaction'] = function (work) {
  return this.transact((sql, afterCommit) =>
    work({ ...this, sql, afterCommit: (effect) => afterCommit(() => this.background(() => effect(this))) }),
  )
}

/** What every request has. */
interface RequestContext extends SystemContext {
  ip: string
  /** As it was sent, at most 300 characters; '' if none was. */
  userAgent: string
  /** Buckets that this request has read, for the answer's headers. */
  buckets: BucketState[]
}

/** For a call without a credential of an account. */
export interface LinkContext extends RequestContext {
  /** The bearer token as it was sent; '' if it is malformed, or the operation takes none. */
  linkToken: string
}

export interface Context extends RequestContext {
  actor: Actor
  /** Sets a cookie in the caller's browser for so many seconds; only the server can read it. */
  setCookie?(name: string, value: string, seconds: number): void
  /**
   * Only for a call with an Idempotency-Key. Stores the answer in the transaction of its effect, so that a crash never leaves one
   * without the other. Refuses if a repeated call has taken the key over.
   */
  keepAnswer?(this: Transaction, data: object): Promise<void>
}
