export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

// Every duration that no setting changes and that a person, another system or another duration depends on. Rate limits and settings
// stand in limits.ts, the windows of a deletion step in its module, and what only tunes the batches of one loop beside that loop.

/** How recent a sign-in must be for a withdrawal or a new access token. */
export const FRESH_SIGN_IN_MS = 10 * minute
/** How far ahead of ours the clock may be that states the time of a sign-in. */
export const MAX_AHEAD_MS = minute
/** How far the clock of the provider may be behind ours at a re-authentication. */
export const MAX_BEHIND_MS = 30 * second
/** How long the person may take at the provider for a re-authentication. */
export const REAUTHENTICATION_LIFETIME_MS = 10 * minute
/** How long a page's bearer token lives; its session may end it earlier. */
export const PAGE_TOKEN_LIFETIME_MS = 10 * minute
/** How long the link that resets a password works, from the request on. */
export const PASSWORD_RESET_MS = 30 * minute
/** A mailed link that deletes the account works for so long. */
export const WITHDRAWAL_LINK_MS = 30 * minute
/** How exact the last use of a token is: a busy one writes no oftener. */
export const LAST_USE_PRECISION_MS = minute
/** The same of a browser session, and what part of a short `SESSION_IDLE`. */
export const SESSION_USE_PRECISION_MS = hour
export const SESSION_USES_WITHIN_IDLE = 12
/** How long before its end operators are told of a service token, and since when it has to have been used. */
export const TOKEN_ENDS_SOON_MS = 30 * day
export const TOKEN_IN_USE_MS = 30 * day

/** So long a hash that was imported through another process may tell, by the time of a sign-in, that its account exists. */
export const MAX_FLOOR_AGE_MS = 10 * second

/** How long the first answer of an Idempotency-Key is kept. */
export const IDEMPOTENCY_WINDOW_MS = day
/** How long a first call may run; a repeated call takes the key over after that. */
export const IDEMPOTENT_CALL_MS = minute

/** How long sent notices that refer to nothing but their account are kept. */
export const ACCOUNT_NOTICE_RETENTION_MS = 30 * day
/** How long an answer waits for the first delivery attempt of its notices. */
export const NOTICE_WAIT_MS = 5 * second
/** How long the mail server may take for one message, however it stalls. */
export const MAX_MAIL_MS = 10 * second
/** How long a sender holds a notice. */
export const NOTICE_LEASE_MS = 2 * MAX_MAIL_MS
/** The wait after each attempt to send a notice; the last one repeats until the attempts are used. */
export const NOTICE_BACK_OFF_MS = [minute, 5 * minute, 15 * minute, hour, 6 * hour, day] as const
/** How long the confirmation of a withdrawal may wait for the mail server; the time scale multiplies it. */
export const CONFIRMATION_LIFETIME_MS = day
/** A mail server can return a message before its row is written. How long a new event waits for it, and how old one may be that is asked for again. */
export const EARLY_EVENT_WAIT_MS = 300
export const EARLY_EVENT_MS = 5 * minute
/** How old a signed call of a mail provider may be. */
export const MAX_SIGNED_AGE_MS = 5 * minute

/** How long an instance holds engine events that it hands over. */
export const OUTBOX_LEASE_MS = 30 * second

/** How long one application may take to say what holds a withdrawal back, and all of them together. */
export const CHECK_MS = 3 * second
export const ALL_CHECKS_MS = 5 * second
/** How long an application may take to answer any other call. */
export const MAX_CALL_MS = 10 * second
/** How long an instance holds a call to an application. */
export const CALL_LEASE_MS = 2 * MAX_CALL_MS
/** How long tasks belong to an application that has asked for them. */
export const TASK_LEASE_MS = minute
/** How long after its task an application is asked whether the person is absent; the time scale multiplies it. */
export const ABSENCE_CHECK_MS = day
/** How much later than the check its step should be completed; the time scale multiplies it. */
export const ABSENCE_ESTIMATE_MS = hour
/** The wait after the first failed call to an application, and the longest one. */
export const CALL_BACK_OFF = { firstMs: 5 * second, maxMs: day }
/** How long the delivery of an event is tried, from the event on; then it is a dead letter. */
export const EVENT_RETRY_MS = 7 * day
/** How long the secret before a rotation signs beside the new one. */
export const SECRET_OVERLAP_MS = day
/** How long calls to an application may fail until it counts as silent; the time scale multiplies it. */
export const SILENT_APPLICATION_MS = day

/** How long a run holds its deletion step; longer than anything that it waits for. */
export const STEP_LEASE_MS = 30 * second
/** How long one erasing statement may take; shorter than the lease of its step. */
export const ERASURE_TIMEOUT_MS = 25 * second
/** An erasure that takes longer pauses, so that other steps have their turn, and goes on in the next run. */
export const MAX_ERASURE_RUN_MS = 5 * second
/** The wait after the first failed run of a deletion step, and the longest one. */
export const STEP_BACK_OFF = { firstMs: 5 * second, maxMs: hour }
/** How late a due step may begin before it counts as overdue: a sweep comes every minute. The time scale multiplies it. */
export const OVERDUE_GRACE_MS = 5 * minute
export const MIN_OVERDUE_GRACE_MS = 5 * second

/** How long before its due date an open withdrawal counts as due soon. */
export const DUE_SOON_MS = 7 * day
/** How long a link to the old address stops a change that was not verified, from the request on. */
export const STOP_CHANGE_MS = 7 * day
/** How long an address that a verified change replaced also gets the notice of a withdrawal. */
export const REPLACED_ADDRESS_MS = 7 * day

/** How long a device is recognised, and how long device and client of a sign-in are kept. */
export const KNOWN_DEVICE_MS = 90 * day
/** A link that says that a sign-in was somebody else's works for so long. */
export const SIGN_IN_LINK_MS = 7 * day
/** Refused sign-ins of one client count as one within this time. */
export const REPEATED_REFUSAL_MS = 15 * minute

/** How long ended sessions, tokens and changes and the client addresses of audit rows are kept. */
export const ENDED_RETENTION_MS = 30 * day
/** How long engine events are kept after the engine has taken them over. */
export const SENT_EVENT_RETENTION_MS = day
/** How long a notice that was given up counts as failed. */
export const FAILED_NOTICE_SHOWN_MS = 30 * day

/** How long a new signing key is published before it signs: readers keep the key set for that long at most. */
export const KEY_PUBLISHED_BEFORE_MS = day
/** How old the signing keys may be that a process remembers; far shorter than the time before a new one signs. */
export const SIGNING_KEYS_KEPT_MS = minute
/** How long the private part of a signing key outlives its last use, because the clock of an instance may be behind by minutes. */
export const RETIRED_KEY_KEPT_MS = hour
/** How long receipts are kept: 24 months, a leap day included. */
export const RECEIPTS_KEPT_MS = 731 * day

/** A withdrawal is committed and in every later backup long before this. */
export const BACKUP_MARGIN_MS = day

/** How often the in-process sweep runs, without an engine and beside one; the time scale multiplies both. */
export const SWEEP_INTERVAL_MS = 15 * second
export const SWEEP_INTERVAL_BESIDE_ENGINE_MS = minute
export const MIN_SWEEP_INTERVAL_MS = 250
