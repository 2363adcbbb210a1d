import type { GrantableScope } from '@/contract/define'
import type { SystemContext } from '../context'
import { PAGE_TOKEN_LIFETIME_MS, second } from '../limits/durations'
import { MAC_TEXT } from '../ports'

/** What a token of the adopter's own page claims, with times in milliseconds. */
export interface PageClaims {
  userId: string
  /** The state of the account's credentials. Whatever ends all access changes it, and so ends the token. */
  version: number
  since: number | null
  scopes: GrantableScope[]
  origin: string
  authenticatedAt: number | null
  acr: string | null
  /** The id of the service token that issued it. */
  issuedBy: string
}

const PURPOSES = { pst: 'session-token', pgt: 'page-token' } as const
type Kind = keyof typeof PURPOSES

const PAGE_TOKEN = new RegExp(`^(pst|pgt)_([A-Za-z0-9_-]{1,2000})\\.(\\d{1,12})\\.(${MAC_TEXT})$`)

/** A bearer token of a page: what it claims, its end in seconds, and a MAC over both. Nothing of it is stored. */
export function sealPageToken({ secrets }: SystemContext, kind: Kind, claims: string, endsAtMs: number) {
  const expires = Math.floor(endsAtMs / second)
  const body = `${claims}.${expires}`
  const mac = secrets.mac(PURPOSES[kind], body).toString('base64url')
  return { token: `${kind}_${body}.${mac}`, expiresAt: new Date(expires * second) }
}

/** What a genuine token claims that has not ended: a session's id, or the claims of a page of the adopter. */
export function openPageToken({ secrets, clock }: SystemContext, token: string) {
  const [, kind, claims = '', expires = '', mac = ''] = PAGE_TOKEN.exec(token) ?? []
  const expiresAt = new Date(Number(expires) * second)
  if (!kind || expiresAt <= clock.now()) return null
  if (!secrets.macMatches(PURPOSES[kind as Kind], `${claims}.${expires}`, Buffer.from(mac, 'base64url'))) return null
  if (kind === 'pst') return { sessionId: claims }
  return { expiresAt, page: JSON.parse(Buffer.from(claims, 'base64url').toString()) as PageClaims }
}

/** For the pages of one session; the token dies with the session, after ten minutes at most. */
export const createSessionToken = (ctx: SystemContext, sessionId: string) =>
  sealPageToken(ctx, 'pst', sessionId, ctx.clock.now().getTime() + PAGE_TOKEN_LIFETIME_MS)
