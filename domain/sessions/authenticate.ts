import { createHash } from 'node:crypto'
import { SCOPES, type Scope } from '@/contract/define'
import type { Actor, Credential, SystemContext } from '../context'
import { PAGE_TOKEN_LIFETIME_MS } from '../limits/durations'
import { MAC_TEXT } from '../ports'
import { findCaller } from './caller'

export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

const ACCESS_TOKEN = /^uat_[A-Za-z0-9_-]{43}$/
const SERVICE_TOKEN = /^svc_[A-Za-z0-9_-]{43}$/
const SESSION_TOKEN = new RegExp(`^pst_(ses_[A-Za-z0-9_-]{22})\\.(\\d{1,12})\\.(${MAC_TEXT})$`)
/** Three parts of base64url: a JWT. A session token has three parts as well. */
const OUTSIDE_TOKEN = /^(?!pst_)[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
export const ALL_SCOPES = Object.keys(SCOPES) as Scope[]

/** The key that finds the token's row; null for a text that cannot be a token. */
export async function readCredential(ctx: SystemContext, token: string): Promise<Credential | null> {
  if (ACCESS_TOKEN.test(token)) return { kind: 'access_token', key: sha256(token), scopes: null }
  if (SERVICE_TOKEN.test(token)) return { kind: 'service_token', key: sha256(token), scopes: null }
  if (ctx.outsideIssuer && OUTSIDE_TOKEN.test(token)) {
    const verified = await ctx.outsideIssuer.verify(token)
    if (!verified) return null
    const { subject, scopes, ...outsideToken } = verified
    return { kind: 'outside_token', key: subject, scopes, outsideToken: { hash: sha256(token), ...outsideToken } }
  }
  const sessionId = sessionOf(ctx, token)
  return sessionId ? sessionCredential(sessionId) : null
}

/** A browser session may do everything that its pages offer. */
export const sessionCredential = (sessionId: string): Credential => ({
  kind: 'session',
  key: sessionId,
  scopes: ALL_SCOPES,
})

/** The session of a session token, if the token is genuine and has not expired. */
function sessionOf(ctx: SystemContext, token: string): string | null {
  const [, sessionId = '', expires = '', mac = ''] = SESSION_TOKEN.exec(token) ?? []
  if (!sessionId || Number(expires) * 1000 <= ctx.clock.now().getTime()) return null
  const genuine = ctx.secrets.macMatches('session-token', `${sessionId}.${expires}`, Buffer.from(mac, 'base64url'))
  return genuine ? sessionId : null
}

/** The hash by which a withdrawal stores a credential that it ended. */
export const hashOfCredential = ({ key, outsideToken }: Credential): Buffer =>
  outsideToken?.hash ?? (typeof key === 'string' ? sha256(key) : key)

/** For the pages: the actor of the session in the signed cookie; null if the session has ended. */
export const authenticateSession = (ctx: SystemContext, sessionId: string): Promise<Actor | null> =>
  findCaller(ctx, sessionCredential(sessionId))

/** A bearer token for the pages of one session; it dies with the session, after ten minutes at most. */
export function createSessionToken(ctx: SystemContext, sessionId: string): { token: string; expiresAt: Date } {
  const expires = Math.floor((ctx.clock.now().getTime() + PAGE_TOKEN_LIFETIME_MS) / 1000)
  const text = `${sessionId}.${expires}`
  const mac = ctx.secrets.mac('session-token', text).toString('base64url')
  return { token: `pst_${text}.${mac}`, expiresAt: new Date(expires * 1000) }
}
