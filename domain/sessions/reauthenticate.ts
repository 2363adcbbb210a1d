import type * as contract from '@/contract/access'
import type { Purpose } from '@/contract/access'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { addAudit } from '../audit'
import type { AnyContext, Context, SystemContext } from '../context'
import { MAX_AHEAD_MS, MAX_BEHIND_MS, REAUTHENTICATION_LIFETIME_MS } from '../limits/durations'
import { lockAccountOfId } from '../lock-account'
import type { ProviderRequest } from '../ports'
import { openSealed, seal } from '../sealed'
import { noteIncident } from '../security-incidents'
import { boolean, integer, type RowOf, sql, statement, text, time } from '../sql'
import { passChange, startSession } from './sessions'

/** One for each request, because a person may have begun in two tabs. */
export const reauthenticationCookie = (state: string): string => `reauthentication.${state}`
const REQUEST_ID = /^rea_[A-Za-z0-9_-]{22}$/

const insertRequest = statement(
  'start-reauthentication',
  { id: text, sessionId: text, userId: text, purpose: text.of<Purpose>(), now: time },
  { id: text },
  (v) => sql`INSERT INTO reauth_requests (id, session_id, user_id, purpose, started_at)
   SELECT ${v.id}, ${v.sessionId}, id, ${v.purpose}, ${v.now} FROM users
   WHERE id = ${v.userId} AND external_id IS NOT NULL AND withdrawn_at IS NULL
   RETURNING id`,
)

/** Sends the person to the identity provider. Only the browser that gets the cookie can bring the answer back. */
export async function startReauthentication(
  ctx: Context,
  { purpose }: Input<typeof contract.startReauthentication>,
): Promise<Data<typeof contract.startReauthentication>> {
  const { actor, identityProvider, secrets } = ctx
  if (actor.kind !== 'session') throw new AppError('AUTH_002', 'Only a page of a browser session can start this.')
  if (!identityProvider) throw new AppError('REQUEST_005', 'This service has no identity provider.')
  const request = { state: secrets.randomId('rea_'), nonce: secrets.randomToken(), codeVerifier: secrets.randomToken() }
  const url = await identityProvider.reauthenticationUrl(request, ctx.freshSignIn.requiredAcr)
  await ctx.transaction(async (tx) => {
    const { userId, id: sessionId } = actor
    const now = tx.clock.now()
    const [row] = await tx.sql(insertRequest, { id: request.state, sessionId, userId, purpose, now })
    if (!row) throw new AppError('REQUEST_005', 'The identity provider does not know this account.')
    await addRequestAudit(tx, 'reauthentication.started', { id: row.id, userId, ip: tx.ip })
  })
  ctx.setCookie?.(reauthenticationCookie(request.state), sealRequest(ctx, request), REAUTHENTICATION_LIFETIME_MS / 1000)
  return { authorization_url: url }
}

interface SealedRequest {
  reauthentication?: ProviderRequest
}

const sealRequest = (ctx: SystemContext, reauthentication: ProviderRequest) =>
  seal(ctx, { reauthentication } satisfies SealedRequest).toString('base64url')

/** The request that this browser's cookie holds; null if this service has not sealed the cookie for it. */
const openRequest = (ctx: SystemContext, cookie = ''): ProviderRequest | null =>
  openSealed<SealedRequest>(ctx, Buffer.from(cookie, 'base64url'))?.reauthentication ?? null

type RequestRow = RowOf<typeof claimRequest>

// Uses the request up before anything else is checked, so that only one of two answers to it gets the row.
const claimRequest = statement(
  'claim-reauthentication',
  { id: text, heldId: text, now: time },
  {
    /** The browser holds a session of this user: the one that began, or one that has replaced it in another tab. */
    holds_session: boolean,
    user_id: text,
    purpose: text.of<Purpose>(),
    started_at: time,
    external_id: text.orNull,
    credential_version: integer,
    withdrawn_at: time.orNull,
    claimed: boolean,
  },
  (v) => sql`WITH claimed AS (
     UPDATE reauth_requests SET used_at = ${v.now} WHERE id = ${v.id} AND used_at IS NULL RETURNING id
   )
   SELECT EXISTS (SELECT FROM sessions s WHERE s.id = ${v.heldId} AND s.user_id = r.user_id) AS holds_session, r.user_id, r.purpose, r.started_at, u.external_id, u.credential_version, u.withdrawn_at,
          EXISTS (SELECT FROM claimed) AS claimed
   FROM reauth_requests r JOIN users u ON u.id = r.user_id WHERE r.id = ${v.id}`,
)

/** Why a re-authentication ended without a new session. */
export type Refusal =
  | 'unknown'
  | 'used'
  | 'late'
  | 'other_browser'
  | 'ended'
  | 'declined'
  | 'provider_away'
  | 'bad_proof'
  | 'other_person'
  | 'not_fresh'
  | 'too_weak'

export type Outcome = { purpose: Purpose | null; userId: string | null } & (
  | { sessionId: string }
  | { refusal: Refusal }
)

interface Answered {
  /** The query of the callback. */
  answer: URLSearchParams
  cookie: string | undefined
  /** The session that the browser holds now. */
  sessionId: string | undefined
  userAgent: string
  ip: string
}

/** Handles the provider's answer. If any part of it is wrong, nothing changes, and the audit says so. */
export async function finishReauthentication(ctx: SystemContext, input: Answered): Promise<Outcome> {
  const id = input.answer.get('state') ?? ''
  const heldId = input.sessionId ?? ''
  const [row] = REQUEST_ID.test(id) ? await ctx.sql(claimRequest, { id, heldId, now: ctx.clock.now() }) : []
  if (!row) return { refusal: 'unknown', purpose: null, userId: null }
  const about = { purpose: row.purpose, userId: row.user_id }
  const proof = await checkAnswer(ctx, row, { ...input, id })
  if ('authenticatedAt' in proof) {
    const sessionId = await replaceSession(ctx, row, { ...input, ...proof, id, heldId })
    if (sessionId) return { sessionId, ...about }
  }
  const refusal = 'refusal' in proof ? proof.refusal : 'ended'
  const refused = { id, userId: row.user_id, ip: input.ip }
  await addRequestAudit(ctx, 'reauthentication.refused', refused)
  await noteIncident(ctx, 'proof_refused', refused)
  return { refusal, ...about }
}

async function checkAnswer(
  ctx: SystemContext,
  row: RequestRow,
  { id, answer, cookie }: Answered & { id: string },
): Promise<{ authenticatedAt: Date } | { refusal: Refusal }> {
  const { identityProvider, freshSignIn, clock } = ctx
  const startedAt = row.started_at.getTime()
  if (!row.claimed) return { refusal: 'used' }
  if (clock.now().getTime() - startedAt > REAUTHENTICATION_LIFETIME_MS) return { refusal: 'late' }
  const request = openRequest(ctx, cookie)
  if (request?.state !== id || !row.holds_session) return { refusal: 'other_browser' }
  if (row.withdrawn_at || !identityProvider) return { refusal: 'ended' }
  if (answer.has('error')) return { refusal: 'declined' }
  const claims = await identityProvider.redeem(answer, request).catch((error) => {
    if (error instanceof AppError) return 'provider_away' as const
    throw error
  })
  if (claims === 'provider_away') return { refusal: claims }
  if (!claims) return { refusal: 'bad_proof' }
  if (row.external_id === null || claims.subject !== row.external_id) return { refusal: 'other_person' }
  const { authenticatedAt, acr } = claims
  const signedInAt = authenticatedAt?.getTime() ?? Number.NEGATIVE_INFINITY
  // Compared with the start of the request: a maximum age of zero would refuse every answer that takes a second.
  const isFresh = signedInAt >= startedAt - MAX_BEHIND_MS && signedInAt <= clock.now().getTime() + MAX_AHEAD_MS
  if (!authenticatedAt || !isFresh) return { refusal: 'not_fresh' }
  if (freshSignIn.requiredAcr !== null && acr !== freshSignIn.requiredAcr) return { refusal: 'too_weak' }
  return { authenticatedAt }
}

const lockSession = statement(
  'lock-session-to-replace',
  { id: text, userId: text, credentialVersion: integer, now: time },
  { id: text },
  (v) => sql`SELECT s.id FROM sessions s JOIN users u ON u.id = s.user_id
   WHERE s.id = ${v.id} AND s.user_id = ${v.userId} AND s.revoked_at IS NULL AND s.expires_at > ${v.now}
     AND u.credential_version = ${v.credentialVersion}
   FOR UPDATE OF s`,
)

const endReplaced = statement(
  'end-replaced-session',
  { id: text, now: time },
  {},
  (v) => sql`UPDATE sessions SET revoked_at = ${v.now} WHERE id = ${v.id}`,
)

interface Replacing {
  id: string
  /** The session that the browser holds now. */
  heldId: string
  authenticatedAt: Date
  userAgent: string
  ip: string
}

/** Null if the browser's session or the account ended while the person was at the provider. */
const replaceSession = (
  ctx: SystemContext,
  { user_id: userId, credential_version: credentialVersion, purpose }: RequestRow,
  { id, heldId, authenticatedAt, userAgent, ip }: Replacing,
): Promise<string | null> =>
  ctx.transaction(async (tx) => {
    const now = tx.clock.now()
    if (!(await lockAccountOfId(tx, userId))) return null
    if ((await tx.sql(lockSession, { id: heldId, userId, credentialVersion, now })).length === 0) return null
    const session = { userId, credentialVersion, authenticatedAt, authenticatedFor: purpose, userAgent, ip }
    const sessionId = await startSession(tx, session)
    if (!sessionId) return null
    await Promise.all([
      passChange(tx, { userId, from: heldId, to: sessionId }),
      tx.sql(endReplaced, { id: heldId, now }),
      addRequestAudit(tx, 'reauthentication.completed', { id, userId, ip }),
    ])
    return sessionId
  })

interface AnsweredRequest {
  id: string
  userId: string
  ip: string
}

const addRequestAudit = (
  ctx: AnyContext,
  action: `reauthentication.${'started' | 'completed' | 'refused'}`,
  { id: subject, userId, ip }: AnsweredRequest,
): Promise<void> => addAudit(ctx, action, { userId, actor: 'session', ip, subject, at: ctx.clock.now() })
