import type { GrantableScope, Scope } from '@/contract/define'
import type { VerificationMethod } from '@/contract/email'
import type { CHOICES } from '@/contract/vocabulary'

export interface Clock {
  now(): Date
  /** Whether the clocks of database and host differ so much that nothing may be deleted by the time. */
  isOff?(): boolean
}

/** The purposes of MACs, and the list of keys that each uses; two purposes never share a MAC. */
export const MAC_PURPOSES = {
  'verification-code': 'code',
  pseudonym: 'code',
  'ledger-mark': 'code',
  idempotency: 'code',
  'external-id': 'code',
  'task-report': 'code',
  'session-token': 'auth',
  'page-token': 'auth',
  'status-token': 'auth',
  'password-reset': 'auth',
  'withdrawal-request': 'auth',
  'not-me': 'auth',
  'sign-in': 'auth',
  'sign-in-line': 'auth',
  'mail-message': 'code',
  'mail-address': 'code',
} as const
export type MacPurpose = keyof typeof MAC_PURPOSES

/** A MAC in base64url, for patterns. The last character holds four bits, so without its restriction one MAC would have four texts. */
export const MAC_TEXT = '[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]'

export interface Secrets {
  /** `prefix` and 128 random bits, URL-safe. */
  randomId(prefix: string): string
  /** 256 random bits, URL-safe. */
  randomToken(): string
  /** 256 random bits. */
  randomKey(): Buffer
  /** Six digits, uniform over 000000–999999. */
  randomCode(): string
  /** Uniform, from 0 to below 1. */
  randomFraction(): number
  /** With the newest key. */
  mac(purpose: MacPurpose, text: string): Buffer
  /** One MAC for each configured key, newest first. */
  macs(purpose: MacPurpose, text: string): Buffer[]
  /** Compares in constant time, with each configured key. */
  macMatches(purpose: MacPurpose, text: string, mac: Uint8Array): boolean
  /** Encrypts with the newest key; no key is in the database. */
  seal(content: Uint8Array | string): Buffer
  /** Null if no configured key opens it. */
  open(sealed: Uint8Array): Buffer | null
  /** Whether the newest key opens it, so that no older key is needed for it. */
  isSealedWithNewest(sealed: Uint8Array): boolean
}

interface PasswordCheck {
  /** The answer comes no earlier than this after the check began, however long the check waited for its turn. */
  notBeforeMs?: number
  /** Without a hash: waits where the checks of imported hashes wait. */
  isForeign?: boolean
  signal?: AbortSignal | undefined
}

export interface Passwords {
  /** Both refuse with SERVER_002 where they cannot begin in time or `signal` is aborted before they begin. */
  hash(password: string, signal?: AbortSignal): Promise<string>
  /**
   * Without a hash it does the work of a hash of our own and returns false, so that an unknown account takes as long as a known one.
   * `as_typed`: the hash is of what was typed, and not of its normalised form.
   */
  verify(hash: string | undefined, password: string, options?: PasswordCheck): Promise<boolean | 'as_typed'>
  /** How many milliseconds a check against this hash takes now. */
  timeOf(hash: string): Promise<number>
}

/** A service that knows passwords from breaches. */
export interface BreachedPasswords {
  /** Null if there was no answer in time. */
  has(password: string): Promise<boolean | null>
}

export interface NotMeLink {
  /** The token is in the fragment. */
  url: string
  until: Date
}

/**
 * How a deletion was asked for: by the person on the settings pages, with a program's token or by a mailed link, or on their behalf by a
 * service, or by support with the operator command. `person`: a row of the last release does not say how.
 */
export type WithdrawalWay = 'person' | 'settings' | 'program' | 'mail' | 'service' | 'support'

/** What outlasts a deletion: the records of every account, and what the person chose to keep. */
export interface KeptData {
  chosen: readonly (typeof CHOICES)[number][]
  days: number
  until: Date
}

/** `stopped`: the change had not been verified. */
export type UndoOutcome = 'stopped' | 'restored'

/** Where a request came from. Both are empty where they are not known. */
export interface Origin {
  ipAddress: string
  userAgent: string
}

export type Message =
  | {
      template: 'verify-new-email'
      userName: string
      /** The account's own address is verified; nothing is changed. */
      isOwn: boolean
      currentEmail: string
      newEmail: string
      code: string
      link: string
      validMs: number
      /** When code and link end. */
      validUntil: Date
      firstMethod: VerificationMethod
    }
  | (Origin & {
      template: 'email-changed'
      userName: string
      hasPassword: boolean
      oldEmail: string
      newEmail: string
      changedAt: Date
      /** Only for the old address, and only if a change can be undone. */
      notMe: NotMeLink | null
    })
  | {
      /** To an old address that was never verified, or whose mailbox is lost: whoever reads it learns nothing of the person. */
      template: 'email-changed-unproven'
      oldEmail: string
      newEmailMasked: string
      changedAt: Date
    }
  | (Origin & {
      template: 'email-change-requested'
      userName: string
      hasPassword: boolean
      /** Not masked, because the message goes there. */
      currentEmail: string
      newEmailMasked: string
      requestedAt: Date
      notMe: NotMeLink
    })
  | (Origin & {
      template: 'email-reverted'
      /** The new address learns neither the name nor the address of the owner, nor where the link was used. */
      to: 'old' | 'new'
      userName: string
      /** The address that the message goes to. */
      email: string
      /** The address that the account does not have; masked where it never had it. */
      newEmail: string
      hasPassword: boolean
      revertedAt: Date
      outcome: UndoOutcome
      /** Before this time the person cannot delete the account; null where nothing holds it, and for the new address. */
      heldUntil: Date | null
    })
  | (Origin & {
      template: 'password-changed'
      userName: string
      /** Whether the address was verified; without that a stranger may read the mail. */
      isVerified: boolean
      changedAt: Date
      /** Whether the browser that changed it stays signed in. */
      keepsBrowser: boolean
    })
  | {
      template: 'new-device'
      userName: string
      hasPassword: boolean
      signedInAt: Date
      /** Null where the address was never verified: its mailbox may be a stranger's. */
      details: (Origin & { notMe: NotMeLink }) | null
    }
  | {
      template: 'new-devices'
      userName: string
      hasPassword: boolean
      /** The newest first; `more` were left out. */
      signIns: Origin[]
      more: number
      firstAt: Date
      lastAt: Date
      /** Null once the link has ended. */
      notMe: NotMeLink | null
    }
  | (Origin & {
      template: 'password-reset'
      userName: string
      link: string
      endsAt: Date
      requestedAt: Date
    })
  | (Origin & {
      template: 'no-password-to-reset'
      userName: string
      /** Where the person signs in; null if unknown. */
      provider: string | null
      requestedAt: Date
    })
  | (Origin & {
      template: 'withdrawal-requested'
      userName: string
      link: string
      endsAt: Date
      requestedAt: Date
    })
  | (Origin & {
      template: 'withdrawal-by-sign-in'
      userName: string
      /** Before this time the person cannot delete the account, because a change of its address was undone. */
      heldUntil: Date | null
      /** From when a link is mailed, where a change of the address that can be undone holds it back. */
      linkFrom: Date | null
      /** The page where a person who is signed in deletes the account. */
      settingsUrl: string
      requestedAt: Date
    })
  | (Origin & {
      /** To an address that can still undo a change. */
      template: 'undo-before-withdrawal'
      userName: string
      /** Until when the account used this address. */
      changedAt: Date
      notMe: NotMeLink
      requestedAt: Date
    })
  | (Origin & {
      template: 'data-exported'
      userName: string
      hasPassword: boolean
      exportedAt: Date
      settingsUrl: string
    })
  | (Origin & {
      template: 'access-token-created'
      userName: string
      hasPassword: boolean
      createdAt: Date
      tokenName: string
      scopes: readonly GrantableScope[]
      expiresAt: Date
      tokensUrl: string
    })
  | {
      template: 'account-withdrawal-started'
      way: WithdrawalWay
      userName: string
      requestedAt: Date
      progressUrl: string
      scheduledCompletion: Date
      kept: KeptData
      /** The acceptance in its compact form, which the letter carries as a file; null if it could not be made in time. */
      receipt: string | null
    }
  | {
      template: 'account-withdrawal-told'
      way: WithdrawalWay
      userName: string
      requestedAt: Date
      scheduledCompletion: Date
      kept: KeptData
    }

/** `refused`: the mail server will never accept this message for this recipient. `deferred`: it may accept it later. */
export type MailOutcome = 'accepted' | 'deferred' | 'refused'

export interface Mail {
  /** Makes one try. `id` is the same in all tries of a message; `locale` is the account's. */
  send(mail: { to: string; id: string; userId: string; locale: string | null; message: Message }): Promise<MailOutcome>
  /** Deletes what a local mailbox keeps of this user. */
  deleteMessages(userId: string): Promise<void>
}

/** What a mail server or a mail provider says of one message. */
export interface MailEvent {
  /** The id that `Mail.send` got, or the id of the delivery, which is in the return path. */
  message: { id: string } | { deliveryId: string }
  /** The recipient, as the source names it; a forwarded message may have two names for it. */
  addresses: string[]
  /** `undeliverable`: nobody tries any more. */
  state: 'deferred' | 'delivered' | 'complained' | 'undeliverable'
  /** Whether the source calls the failure permanent: then the address takes no mail, and not this message alone. */
  isPermanent: boolean
  /** When the source saw it; null if it does not say. */
  at: Date | null
}

/** A call of a source, as it came. */
export interface MailEventCall {
  headers: Headers
  body: Uint8Array
}

/** Who tells what became of messages: a provider, or one's own mail server. */
export interface MailEventSource {
  /** The events of a call, without those that it does not understand. Refuses a call that is not the source's with AUTH_001. */
  read(call: MailEventCall, now: Date): Promise<MailEvent[]>
}

/** Stores encrypted copies of users' data. */
export interface ArchiveStore {
  put(objectKey: string, content: Uint8Array): Promise<void>
  exists(objectKey: string): Promise<boolean>
  /** A missing object is no error, because a killed run may have deleted it. Ask `exists` before the first try. */
  delete(objectKey: string): Promise<void>
}

/** One withdrawal in the erasure ledger: enough to repeat it, and nothing that names the person. */
export interface LedgerEntry {
  withdrawalId: string
  /** The keyed pseudonym of the user id. */
  pseudonym: string
  /** ISO 8601 */
  startedAt: string
  keeps: { analytics: boolean; auditLogs: boolean; transactionHistory: boolean }
}

/** Stores the lines of the erasure ledger outside the database and its backups, so that a restored backup cannot bring people back. */
export interface LedgerStore {
  /** Resolves when the object is on disk. */
  put(name: string, content: string): Promise<void>
  /** As `put`, but never replaces an object: false if there is one. */
  add(name: string, content: string): Promise<boolean>
  /** Null if there is no such object. */
  get(name: string): Promise<string | null>
  /** The names below the folder in their order; only those after `after`. */
  list(folder: string, after?: string): AsyncIterable<string>
  delete(name: string): Promise<void>
  /** Lines that releases before the chain wrote into the data directory. */
  earlierLines(): AsyncIterable<string>
}

export interface AppRequest {
  endpoint: string
  headers: Record<string, string>
  body: string
  /** If set, the body of the answer is read, within so many milliseconds. */
  bodyWithinMs?: number
  /** Named in the log if there is no good answer: ids, and the step of a withdrawal. Null: the log says nothing. */
  about: Record<string, string> | null
}

/** Status 0: no answer, for the reason that `problem` names. */
export interface AppAnswer {
  status: number
  problem?: string
  retryAfterMs?: number
  /** Only if it was asked for and read to its end. */
  body?: string
}

export interface OutsideToken {
  subject: string
  scopes: Scope[]
  expiresAt: Date
  /** Null if the issuer does not say. */
  issuedAt: Date | null
  /** The claim `auth_time`; null if it is missing or no whole number. */
  authenticatedAt: Date | null
  acr: string | null
}

export interface OutsideIssuer {
  /** The subject of its tokens: our id of the account, or the adopter's. */
  readonly subjectIs: 'user_id' | 'external_id'
  /** Null for a token that is not a valid one of this issuer. Throws SERVER_002 if that cannot be checked. */
  verify(token: string): Promise<OutsideToken | null>
}

/** Identifies one request to the identity provider. */
export interface ProviderRequest {
  state: string
  nonce: string
  codeVerifier: string
}

/** Claims of an ID token whose signature, issuer, audience, nonce and times are valid. */
export interface IdTokenClaims {
  subject: string
  /** The claim `auth_time`, never `iat`; null if it is missing or no whole number. */
  authenticatedAt: Date | null
  acr: string | null
}

/** The adopter's OpenID Connect provider. Both calls throw SERVER_002 if it cannot be reached. */
export interface IdentityProvider {
  /** The name that people know. */
  name: string
  /** The URL at which the provider asks the person to sign in, even if it remembers them. */
  reauthenticationUrl(request: ProviderRequest, acr: string | null): Promise<string>
  /** The claims in the provider's answer to this request; null if the answer or its ID token is invalid. */
  redeem(answer: URLSearchParams, request: ProviderRequest): Promise<IdTokenClaims | null>
}

/** A row of the audit outside this service. */
export interface AuditRecord {
  /** ISO 8601 */
  at: string
  event: string
  /** The keyed pseudonym; null where the row is about no account. */
  account: string | null
  /** How it was done: by a session, a token, a mailed link, the operator … */
  way: string
  /** What the event is about, by the name that docs/audit.md gives it. */
  [member: string]: string | null
}

export interface EngineEvent {
  /** The engine recognises a repeated event by it. */
  id: string
  name: string
  /** Ids only. */
  data: Record<string, string>
}
