import { createHash } from 'node:crypto'
import { SCOPES, type Scope } from '@/contract/define'
import type { Actor, Credential, SystemContext } from '../context'
import { findCaller } from './caller'
import { openPageToken } from './page-tokens'

export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

const ACCESS_TOKEN = /^uat_[A-Za-z0-9_-]{43}$/
const SERVICE_TOKEN = /^svc_[A-Za-z0-9_-]{43}$/
/** Three parts of base64url: a JWT. A page token has three parts as well. */
const OUTSIDE_TOKEN = /^(?!p[sg]t_)[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
export const ALL_SCOPES = Object.keys(SCOPES) as Scope[]

/** The key that finds the token's row; null for a text that cannot be a token, or is that of a page of another origin, or of one that is no longer allowed. */
export async function readCredential(
  ctx: SystemContext,
  token: string,
  origin: string | null,
): Promise<Credential | null> {
  if (ACCESS_TOKEN.test(token)) return { kind: 'access_token', key: sha256(token), scopes: null }
  if (SERVICE_TOKEN.test(token)) return { kind: 'service_token', key: sha256(token), scopes: null }
  if (ctx.outsideIssuer && OUTSIDE_TOKEN.test(token)) {
    const verified = await ctx.outsideIssuer.verify(token)
    if (!verified) return null
    const { subject, scopes, ...claims } = verified
    return { kind: 'outside_token', key: subject, scopes, rowless: { hash: sha256(token), ...claims } }
  }
  const opened = openPageToken(ctx, token)
  if (opened?.sessionId !== undefined) return sessionCredential(opened.sessionId)
  if (opened?.page.origin !== origin || !ctx.allowedOrigins.includes(origin)) return null
  const { userId, version, since, scopes, authenticatedAt, acr, issuedBy } = opened.page
  const toDate = (ms: number | null) => (ms === null ? null : new Date(ms))
  const issuedFor = { version, since: toDate(since) }
  const presence = { authenticatedAt: toDate(authenticatedAt), acr }
  const rowless = { hash: sha256(token), expiresAt: opened.expiresAt, issuedAt: null, issuedFor, issuedBy, ...presence }
  return { kind: 'page_token', key: userId, scopes, rowless }
}

/** A browser session may do everything that its pages offer. */
export const sessionCredential = (sessionId: string): Credential => ({
  kind: 'session',
  key: sessionId,
  scopes: ALL_SCOPES,
})

/** The hash by which a withdrawal stores a credential that it ended. */
export const hashOfCredential = ({ key, rowless }: Credential): Buffer =>
  rowless?.hash ?? (typeof key === 'string' ? sha256(key) : key)

/** For the pages: the actor of the session in the signed cookie; null if the session has ended. */
export const authenticateSession = (ctx: SystemContext, sessionId: string): Promise<Actor | null> =>
  findCaller(ctx, sessionCredential(sessionId))
