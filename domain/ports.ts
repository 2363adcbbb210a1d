import type { Scope } from '@/contract/define'
import type { VerificationMethod } from '@/contract/email'

export interface Clock {
  now(): Date
}

/** What a MAC is for; two purposes never share one. */
export type MacPurpose =
  | 'verification-code'
  | 'session-token'
  | 'status-token'
  | 'task-report'
  | 'not-me'
  | 'pseudonym'
  | 'idempotency'
  | 'external-id'
  | 'password-reset'

/** A MAC as base64url, for patterns. Its last character holds four bits: with any character in its place one MAC had four texts. */
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
  /**
   * Without a hash, false after the same work: an unknown account takes as long as a known one. The answer is held back until
   * `notBeforeMs` after the check began, however long it waited for its turn.
   */
  verify(hash: string | undefined, password: string, notBeforeMs?: number): Promise<boolean>
  /** Milliseconds that a check against this hash takes now. */
  timeOf(hash: string): Promise<number>
}

export interface NotMeLink {
  /** The fragment holds the token. */
  url: string
  until: Date
}

/** `stopped`: the change had not been verified. `taken`: another account has the old address, and this one is frozen. */
export type UndoOutcome = 'stopped' | 'restored' | 'taken'

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
      /** For the old address alone, and only where a change can be undone. */
      notMe: NotMeLink | null
    }
  | {
      template: 'email-change-requested'
      userName: string
      /** In full: the message goes there. */
      currentEmail: string
      newEmailMasked: string
      requestedAt: Date
      ipAddress: string
      notMe: NotMeLink
    }
  | {
      template: 'email-reverted'
      /** The new address is told neither name nor address of the owner. */
      to: 'old' | 'new'
      userName: string
      /** The address that the message goes to. */
      email: string
      revertedAt: Date
      outcome: UndoOutcome
    }
  | {
      template: 'password-changed'
      userName: string
      changedAt: Date
      ipAddress: string
    }
  | {
      template: 'password-reset'
      userName: string
      link: string
      endsAt: Date
      ipAddress: string
    }
  | {
      template: 'no-password-to-reset'
      userName: string
      /** Where the person signs in; null where nobody knows. */
      provider: string | null
      ipAddress: string
    }
  | {
      template: 'data-exported'
      userName: string
      exportedAt: Date
      ipAddress: string
      settingsUrl: string
    }
  | {
      template: 'account-withdrawal-started'
      userName: string
      progressUrl: string
      scheduledCompletion: Date
      retentionDays: number
    }
  | {
      template: 'account-withdrawal-told'
      userName: string
      scheduledCompletion: Date
      retentionDays: number
    }

/** `refused`: the mail server will never take this message for this recipient. `deferred`: not now, for whatever reason. */
export type MailOutcome = 'accepted' | 'deferred' | 'refused'

export interface Mail {
  /** One try. `id` is stable over repeated tries of the same message; `locale` is the account's. */
  send(mail: { to: string; id: string; userId: string; locale: string | null; message: Message }): Promise<MailOutcome>
  /** Removes what a local mailbox keeps of this user. */
  deleteMessages(userId: string): Promise<void>
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

/**
 * Where the lines of the erasure ledger are kept: outside the database and its backups, so that a restored backup cannot bring people
 * back.
 */
export interface LedgerStore {
  /** An object that was put is on disk. */
  put(name: string, content: string): Promise<void>
  /** Null where there is no such object. */
  get(name: string): Promise<string | null>
  /** The names below the folder in their order, those after `after` alone. */
  list(folder: string, after?: string): AsyncIterable<string>
  delete(name: string): Promise<void>
  /** The lines that releases before the chain wrote into the data directory. */
  earlierLines(): AsyncIterable<string>
}

export interface AppRequest {
  endpoint: string
  headers: Record<string, string>
  body: string
  /** Where set, the body of the answer is wanted, and all of it within so many milliseconds. */
  bodyWithinMs?: number
  /** What the log names where there is no answer: ids, and the step of a withdrawal. */
  about: Record<string, string>
}

/** Status 0: no answer, for the reason that `problem` names. */
export interface AppAnswer {
  status: number
  problem?: string
  retryAfterMs?: number
  /** Where it was wanted, and was read to its end. */
  body?: string
}

export interface OutsideToken {
  subject: string
  scopes: Scope[]
  expiresAt: Date
  /** Null where the issuer does not say. */
  issuedAt: Date | null
  /** The claim `auth_time`; null where it is missing or no whole number. */
  authenticatedAt: Date | null
  acr: string | null
}

export interface OutsideIssuer {
  /** What the subject of its tokens is: our id of the account, or the adopter's own. */
  readonly subjectIs: 'user_id' | 'external_id'
  /** Null when it is not a good token of this issuer. Throws SERVER_002 when that cannot be found out. */
  verify(token: string): Promise<OutsideToken | null>
}

/** What one request to the identity provider is recognised by. */
export interface ProviderRequest {
  state: string
  nonce: string
  codeVerifier: string
}

/** Of an ID token whose signature, issuer, audience, nonce and times are good. */
export interface IdTokenClaims {
  subject: string
  /** The claim `auth_time`, never `iat`; null where it is missing or no whole number. */
  authenticatedAt: Date | null
  acr: string | null
}

/** The adopter's OpenID Connect provider. Both calls throw SERVER_002 when it cannot be asked. */
export interface IdentityProvider {
  /** What people know it by. */
  name: string
  /** Where the browser goes to be asked who sits there, whatever the provider remembers of it. */
  reauthenticationUrl(request: ProviderRequest, acr: string | null): Promise<string>
  /** What the provider says in answer to this request; null when its answer, or its ID token, is not good. */
  redeem(answer: URLSearchParams, request: ProviderRequest): Promise<IdTokenClaims | null>
}

export interface EngineEvent {
  /** The engine recognises a repetition by it. */
  id: string
  name: string
  /** Ids only. */
  data: Record<string, string>
}
