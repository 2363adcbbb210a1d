/** Words and bounds of the API that pages show too. This file does not import zod, so that a page does not load the parser. */

export const VERIFICATION_METHODS = ['email_code', 'email_link'] as const
/** What became of a change request. `expired` and `exhausted` follow from its end and its attempts. */
export const CHANGE_STATES = [
  'pending_verification',
  'expired',
  'exhausted',
  'verified',
  'superseded',
  'cancelled',
  'reverted',
] as const
export const DEFAULT_VERIFICATION_METHOD: (typeof VERIFICATION_METHODS)[number] = 'email_code'

export const CHANGE_REQUEST_ID = /^ecr_[A-Za-z0-9_-]{22}$/
export const SESSION_ID = /^ses_[A-Za-z0-9_-]{22}$/
export const RESET_TOKEN = /^prt_[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/
export const WITHDRAWAL_LINK_TOKEN = /^wrt_[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/
/** What the mail attaches and the progress page saves: receipts in their compact form, one a line. */
export const RECEIPT_FILE = {
  /** With the receipt of the request, in the mail. */
  name: 'deletion-receipt.jws',
  /** With the final receipt too, from the page of the deletion. */
  finalName: 'deletion-receipt-final.jws',
  type: 'application/jose',
} as const
export const VERIFICATION_CODE_LENGTH = 6
export const VERIFICATION_CODE = /^[0-9]{6}$/

export const REASONS = [
  'no_longer_needed',
  'privacy_concerns',
  'switching_service',
  'account_security',
  'other',
] as const

/** The public words for what a withdrawal deletes; table names are internal. A word is never renamed. */
export const CATEGORIES = [
  'account',
  'profile',
  'preferences',
  'sessions',
  'sign_ins',
  'access_tokens',
  'sign_in_confirmations',
  'email_changes',
  'messages',
  'limits',
  'blockers',
  'events',
  'connections',
  'shared_data',
  'archived_copies',
  'archive_keys',
  'transactions',
  'transaction_logs',
  'security_incidents',
  'legal_records',
  'audit_logs',
  'communication_logs',
  'integration_logs',
  'analytics',
  'caches',
  'repeated_calls',
  'ended_credentials',
  'ended_external_ids',
] as const
export type Category = (typeof CATEGORIES)[number]

/** Who may tell what became of a message. */
export const MAIL_SOURCES = ['ses', 'postmark', 'mailgun', 'sendgrid', 'resend', 'dsn'] as const
export type MailSource = (typeof MAIL_SOURCES)[number]
/** What became of the newest message of a change. */
export const DELIVERIES = ['sent', 'delivered', 'undeliverable'] as const

/** What a person can choose to keep. */
export const CHOICES = ['analytics', 'audit_logs', 'transaction_history'] as const
/** Why records stay, under a pseudonym, until the purge: the law, or the person's own choice. */
export const KEPT_FOR = ['law', ...CHOICES] as const
export type KeptFor = (typeof KEPT_FOR)[number]

/** What a receipt proves. */
export const RECEIPT_KINDS = ['acceptance', 'completion', 'purge'] as const
/**
 * The answer of an application. `absent`: asked again later, it confirmed that it no longer has the person. `gone`: it does not know the
 * person. `open`: nothing yet.
 */
export const RECEIPT_ANSWERS = ['erased', 'retained_part', 'absent', 'gone', 'told', 'waived', 'open'] as const
/** Of an application that is asked once more. `unconfirmed`: not yet answered. `present`: it still has the person. */
export const ABSENCES = ['unconfirmed', 'present', 'absent'] as const

/** A preview stops counting here, because counting takes time. */
export const MAX_PREVIEWED = 10_000
/** The types of messages to applications. A deletion step sends `account.withdrawn`, the queue of events sends the others. */
export const EVENT_TYPES = [
  'account.email_change_requested',
  'account.email_changed',
  'account.email_reverted',
  'account.password_changed',
  'account.sessions_ended',
  'account.signed_in_from_new_device',
  'account.email_undeliverable',
  'account.security_notice_undelivered',
  'account.withdrawal_started',
  'account.withdrawn',
  'account.withdrawal_completed',
  'account.purged',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** connected: gets messages about the users that are connected to it. everyone: about every user. */
export const AUDIENCES = ['connected', 'everyone'] as const
/** at_once: a good answer ends a deletion task. later: it may be accepted and reported. */
export const ACKNOWLEDGEMENTS = ['at_once', 'later'] as const
/** Data that events carry beside ids, for applications that ask for it. */
export const INCLUDES = ['addresses'] as const

/** In code points. */
export const MAX_FEEDBACK_LENGTH = 500

/** In code points. */
export const MIN_NEW_PASSWORD_LENGTH = 8
export const MAX_NEW_PASSWORD_LENGTH = 256

export const MAX_BODY_BYTES = 16 * 1024
/** The maximum body from a source of mail events. */
export const MAX_MAIL_EVENT_BYTES = 256 * 1024
/** The maximum report of one's own mail server, whose content strangers choose. */
export const MAX_BOUNCE_BYTES = 64 * 1024
/** The maximum body of a report on a deletion task. */
export const MAX_REPORT_BYTES = 4 * 1024

/** Why nobody waits for an application's deletion task any more, beside the reasons that are registered with the application. */
export const WAIVE_REASONS = ['gone', 'refused', 'unreachable'] as const

/** The parts of a reason that is registered with an application as `code=sentence`. */
export function partsOfReason(reason: string): { code: string; sentence: string } {
  const at = reason.indexOf('=')
  return { code: reason.slice(0, at), sentence: reason.slice(at + 1) }
}

/** The key of each grantable scope's texts in the catalogue. */
export const SCOPE_TEXTS = { 'email:manage': 'email', 'account:manage': 'account' } as const
