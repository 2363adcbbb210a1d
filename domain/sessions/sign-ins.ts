import { createHash } from 'node:crypto'
import { addEvent } from '../applications/events'
import { addAudit } from '../audit'
import type { SystemContext, Transaction } from '../context'
import { networkOf, takePlacesOf } from '../limits/buckets'
import { KNOWN_DEVICE_MS, REPEATED_REFUSAL_MS } from '../limits/durations'
import { boolean, bytes, fenced, integer, type RowOf, sql, statement, text, time } from '../sql'
import { NEW_DEVICE_WINDOW, NEW_DEVICE_WINDOW_MS, type NewDevice, notifyOfNewDevice } from './new-device'
import { endReplaced, type NewSession, startSession, storableUserAgent } from './sessions'

export type Way = 'password' | 'oidc'

/** The browser that signs in, as it presents itself. */
export interface Browser {
  userAgent: string
  ip: string
  /** What its recognising cookie holds: random, and nothing about the person. */
  device?: string | undefined
}

/** The same cookie gives another hash for each account, so that the table does not tell who shares a browser. */
const hashOfDevice = (userId: string, device: string) => createHash('sha256').update(`${userId}\n${device}`).digest()

// Runs after the statement that locks the account, so that it sees what sign-ins at the same time have written.
const accountOfSignIn = statement(
  'account-of-sign-in',
  { ...NEW_DEVICE_WINDOW, userId: text, device: bytes.orNull, knownSince: time, replaces: text.orNull },
  {
    name: text,
    email: text,
    email_key: text,
    locale: text.orNull,
    is_verified: boolean,
    has_password: boolean,
    never_signed_in: boolean,
    is_known: boolean,
    mailed: integer,
    mailed_since: time.orNull,
    digest_id: text.orNull,
    digest_sealed: bytes.orNull,
  },
  (v) => sql`SELECT u.name, u.email, coalesce(u.email_key, '') AS email_key, u.locale,
     u.email_verified_at IS NOT NULL AS is_verified, u.password_hash IS NOT NULL AS has_password, u.never_signed_in,
     EXISTS (
       SELECT FROM (${fenced(sql`SELECT at FROM sign_ins WHERE user_id = ${v.userId} AND device = ${v.device}`)}) AS s WHERE s.at > ${v.knownSince}
     ) OR EXISTS (
       SELECT FROM sessions WHERE id = ${v.replaces} AND user_id = ${v.userId} AND revoked_at IS NULL AND expires_at > ${v.now}
     ) AS is_known,
     n.mailed, n.mailed_since, n.digest_id, n.digest_sealed
   FROM users u CROSS JOIN LATERAL (
     SELECT max(greatest(closed_at, reverted_at)) AS at FROM email_change_requests
     WHERE user_id = ${v.userId} AND status IN ('verified', 'reverted')
   ) AS changed CROSS JOIN LATERAL (
     SELECT count(*) FILTER (WHERE kind = 'new_device' AND created_at >= coalesce(changed.at, created_at))::int AS mailed,
       min(created_at) FILTER (WHERE kind = 'new_device' AND created_at >= coalesce(changed.at, created_at)) AS mailed_since,
       (array_agg(id ORDER BY created_at DESC, id) FILTER (WHERE kind = 'new_devices' AND due_at > ${v.now}))[1] AS digest_id,
       (array_agg(sealed ORDER BY created_at DESC, id) FILTER (WHERE kind = 'new_devices' AND due_at > ${v.now}))[1] AS digest_sealed
     FROM notices WHERE user_id = ${v.userId} AND created_at > ${v.mailedAfter} AND kind IN ('new_device', 'new_devices')
   ) AS n
   WHERE u.id = ${v.userId}`,
)

const insertSignIn = statement(
  'add-sign-in',
  {
    id: text,
    userId: text,
    sessionId: text.orNull,
    outcome: text.of<'signed_in' | 'signed_out'>(),
    way: text,
    device: bytes.orNull,
    userAgent: text,
    ip: text,
    at: time,
    linkUntil: time.orNull,
    noticeId: text.orNull,
  },
  {},
  (v) => sql`INSERT INTO sign_ins (id, user_id, session_id, outcome, way, device, user_agent, ip, at, link_until,
                         notice_id)
   VALUES (${v.id}, ${v.userId}, ${v.sessionId}, ${v.outcome}, ${v.way}, ${v.device}, ${v.userAgent}, ${v.ip}, ${v.at}, ${v.linkUntil},
           ${v.noticeId})`,
)

const markSignedIn = statement(
  'mark-signed-in',
  { userId: text },
  {},
  (v) => sql`UPDATE users SET never_signed_in = false WHERE id = ${v.userId} AND never_signed_in`,
)

interface SignIn extends Pick<NewSession, 'userId' | 'credentialVersion' | 'authenticatedAt' | 'isWeak'> {
  way: Way
  browser: Browser
  /** The session that this browser held. While it is open, the device is known, also where a new password has forgotten it. */
  replaces?: string | undefined
}

/**
 * Starts a session, ends the one that the browser held, and tells the audit and, where the device is new, the person. Returns the
 * session's id; null if the account was withdrawn, or its password changed, since the check.
 */
export async function signInTo(ctx: SystemContext, signIn: SignIn): Promise<string | null> {
  const sessionId = await ctx.transaction((tx) => writeSignIn(tx, signIn))
  const { userId, replaces } = signIn
  if (sessionId && replaces) await endReplaced(ctx, { userId, from: replaces, to: sessionId })
  return sessionId
}

async function writeSignIn(tx: Transaction, { way, browser, replaces, ...session }: SignIn): Promise<string | null> {
  const { userId } = session
  const { ip } = browser
  const at = tx.clock.now()
  const userAgent = storableUserAgent(browser.userAgent)
  const device = browser.device === undefined ? null : hashOfDevice(userId, browser.device)
  const window = { now: at, mailedAfter: new Date(at.getTime() - NEW_DEVICE_WINDOW_MS) }
  const knownSince = new Date(at.getTime() - KNOWN_DEVICE_MS)
  const [sessionId, [account]] = await Promise.all([
    startSession(tx, { ...session, userAgent, ip }),
    tx.sql(accountOfSignIn, { ...window, userId, device, knownSince, replaces: replaces ?? null }),
  ])
  if (!sessionId || !account) return null
  const isNew = !account.is_known && !account.never_signed_in
  const found = { userId, sessionId, userAgent, ip, at }
  const notice = isNew ? await notifyOfDevice(tx, account, found) : { linkUntil: null, noticeId: null }
  await Promise.all([
    tx.sql(insertSignIn, { id: tx.secrets.randomId('sgn_'), outcome: 'signed_in', way, device, ...found, ...notice }),
    account.never_signed_in && tx.sql(markSignedIn, { userId }),
    addAudit(tx, 'sign_in', { userId, actor: way, ip: null, subject: sessionId, at }),
  ])
  return sessionId
}

async function notifyOfDevice(tx: Transaction, account: RowOf<typeof accountOfSignIn>, found: NewDevice) {
  const { userId, at } = found
  const [notice] = await Promise.all([
    notifyOfNewDevice(tx, account, found),
    addEvent(tx, 'account.signed_in_from_new_device', { userId, at }),
  ])
  return notice
}

/** The session ends, because the person wants it to. Does nothing if it has already ended. */
export const signOut = (
  ctx: SystemContext,
  sessionId: string,
  { userAgent, ip }: Browser = { userAgent: '', ip: '' },
): Promise<void> =>
  ctx.transaction(async (tx) => {
    const at = tx.clock.now()
    const [ended] = await tx.sql(endSignedOut, { id: sessionId, now: at })
    if (!ended) return
    const { user_id: userId } = ended
    const row = { id: tx.secrets.randomId('sgn_'), userId, sessionId, at, ip, userAgent: storableUserAgent(userAgent) }
    const none = { device: null, linkUntil: null, noticeId: null }
    await Promise.all([
      tx.sql(insertSignIn, { ...row, ...none, outcome: 'signed_out', way: 'session' }),
      addAudit(tx, 'sign_out', { userId, actor: 'session', ip: null, subject: sessionId, at }),
    ])
  })

// The account is locked before its session, as by every statement that ends sessions, because the row of the sign-out refers to it.
const endSignedOut = statement(
  'sign-out',
  { id: text, now: time },
  { user_id: text },
  (v) => sql`WITH account AS (
     SELECT u.id FROM sessions s JOIN users u ON u.id = s.user_id
     WHERE s.id = ${v.id} AND u.withdrawn_at IS NULL FOR KEY SHARE OF u
   )
   UPDATE sessions s SET revoked_at = ${v.now} FROM account
   WHERE s.id = ${v.id} AND s.revoked_at IS NULL RETURNING s.user_id`,
)

// Reads no other row of the account and locks nothing, so that strangers cannot make it slow.
const findRefusal = statement(
  'find-refused-sign-in',
  { ids: text.list, since: time },
  { id: text },
  (v) => sql`SELECT id FROM sign_ins WHERE id = ANY(${v.ids}::text[]) AND at > ${v.since}`,
)

/** Of an account within a quarter of an hour. Whoever guesses from more networks than this is seen without a row for each. */
const MAX_REFUSALS = 100

// A withdrawal that starts meanwhile waits, and then sees the row. The rows are counted by places, because counting themselves would read
// more of them the longer somebody guesses.
const insertRefusal = statement(
  'add-refused-sign-in',
  { id: text, emailKey: text, way: text, userAgent: text, client: text, at: time },
  { user_id: text },
  (v) => sql`WITH account AS (
     SELECT id FROM users WHERE email_key = ${v.emailKey} AND withdrawn_at IS NULL FOR KEY SHARE
   ), place AS (${takePlacesOf(
     { now: v.at },
     sql`(SELECT 'refusedSignIn:' || id, id, ${MAX_REFUSALS}, ${REPEATED_REFUSAL_MS}::bigint FROM account) AS b (key, user_id, places, window_ms)`,
   )})
   INSERT INTO sign_ins (id, user_id, outcome, way, user_agent, ip, at)
   SELECT ${v.id}, account.id, 'refused', ${v.way}, ${v.userAgent}, ${v.client}, ${v.at} FROM account JOIN place ON place.granted
   ON CONFLICT (id) DO NOTHING RETURNING user_id`,
)

/**
 * Notes a sign-in that was refused, once for each account, client and quarter of an hour, and MAX_REFUSALS times for the account;
 * nothing for an address without an account. It runs after the answer, whose time would otherwise tell whether there is one.
 */
export function noteRefusedSignIn(ctx: SystemContext, emailKey: string, { userAgent, ip }: Browser): void {
  const at = ctx.clock.now()
  const client = networkOf(ip)
  // Refusals of the same moment have the same id, so that one of them is written.
  const moment = Math.floor(at.getTime() / REPEATED_REFUSAL_MS)
  const idAt = (of: number) =>
    `sgn_${ctx.secrets.mac('sign-in', `${emailKey}\n${client}\n${of}`).toString('base64url')}`
  const id = idAt(moment)
  const since = new Date(at.getTime() - REPEATED_REFUSAL_MS)
  const way: Way = 'password'
  ctx.background(async () => {
    if ((await ctx.sql(findRefusal, { ids: [id, idAt(moment - 1)], since })).length > 0) return
    await ctx.transaction(async (tx) => {
      const row = { id, emailKey, way, userAgent: storableUserAgent(userAgent), client, at }
      const [refused] = await tx.sql(insertRefusal, row)
      if (refused) await addAudit(tx, 'sign_in_refused', { userId: refused.user_id, actor: way, ip: null, at })
    })
  })
}
