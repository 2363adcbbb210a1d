export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

// Every duration that no setting changes. Rate limits and settings stand in limits.ts, the windows of a deletion step in its module.

/** How long a browser session lives, whether it is used or not. */
export const SESSION_LIFETIME_MS = 30 * day
/** How recent a sign-in must be for a withdrawal or a new access token. */
export const FRESH_SIGN_IN_MS = 10 * minute
/** How long a page's bearer token lives; its session may end it earlier. */
export const PAGE_TOKEN_LIFETIME_MS = 10 * minute
/** How exact the last use of a session or an access token is: a busy one writes no oftener. */
export const LAST_USE_PRECISION_MS = minute

/** How long the first answer of an Idempotency-Key is kept. */
export const IDEMPOTENCY_WINDOW_MS = day
/** How long a first call may run; a repeated call takes the key over after that. */
export const IDEMPOTENT_CALL_MS = minute

/** How long an answer waits for the first delivery attempt of its notices. */
export const NOTICE_WAIT_MS = 5 * second
/** How long a sender holds a notice; longer than a mail server may take. */
export const NOTICE_LEASE_MS = 20 * second
/** The wait after each attempt to send a notice; the last one repeats until the attempts are used. */
export const NOTICE_BACK_OFF_MS = [minute, 5 * minute, 15 * minute, hour, 6 * hour, day] as const
/** How long the confirmation of a withdrawal may wait for the mail server; the time scale multiplies it. */
export const CONFIRMATION_LIFETIME_MS = day

/** How long an instance holds engine events that it hands over. */
export const OUTBOX_LEASE_MS = 30 * second

/** How long an instance holds a call to an application; longer than a call may take. */
export const CALL_LEASE_MS = 20 * second
/** The wait after the first failed call to an application, which doubles with each further one. */
export const MIN_CALL_BACK_OFF_MS = 5 * second
export const MAX_CALL_BACK_OFF_MS = day
/** How long the delivery of an event is tried, from the event on; then it is a dead letter. */
export const EVENT_RETRY_MS = 7 * day
/** How long calls to an application may fail until it counts as silent; the time scale multiplies it. */
export const SILENT_APPLICATION_MS = day

/** How long a run holds its deletion step; longer than anything that it waits for. */
export const STEP_LEASE_MS = 30 * second
/** How long one erasing statement may take; shorter than the lease of its step. */
export const ERASURE_TIMEOUT_MS = 25 * second
/** The wait after the first failed run of a deletion step, which doubles with each further one. */
export const MIN_STEP_BACK_OFF_MS = 5 * second
export const MAX_STEP_BACK_OFF_MS = hour
/** How late a due step may begin before it counts as overdue: a sweep comes every minute. The time scale multiplies it. */
export const OVERDUE_GRACE_MS = 5 * minute
export const MIN_OVERDUE_GRACE_MS = 5 * second

/** How long ended sessions, tokens and changes and the client addresses of audit rows are kept. */
export const ENDED_RETENTION_MS = 30 * day
/** How long engine events are kept after the engine has taken them over. */
export const SENT_EVENT_RETENTION_MS = day
/** How long a notice that was given up counts as failed. */
export const FAILED_NOTICE_SHOWN_MS = 30 * day

/** How often the in-process sweep runs, without an engine and beside one; the time scale multiplies both. */
export const SWEEP_INTERVAL_MS = 15 * second
export const SWEEP_INTERVAL_BESIDE_ENGINE_MS = minute
export const MIN_SWEEP_INTERVAL_MS = 250
