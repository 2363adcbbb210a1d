import type { SystemContext } from '../context'
import { MAC_TEXT } from '../ports'

const NOT_ME_TOKEN = new RegExp(`^nme_(${MAC_TEXT})$`)

/** Derived from the change's id with a key that is not in the database; stored nowhere. */
export const createNotMeToken = (ctx: SystemContext, changeRequestId: string): string =>
  `nme_${ctx.secrets.mac('not-me', changeRequestId).toString('base64url')}`

export function isNotMeTokenOf(ctx: SystemContext, token: string, changeRequestId: string): boolean {
  const mac = NOT_ME_TOKEN.exec(token)?.[1]
  return mac !== undefined && ctx.secrets.macMatches('not-me', changeRequestId, Buffer.from(mac, 'base64url'))
}

/** Sent only to the old address. The token is in the fragment, which no browser sends to a server. */
export const notMeUrl = (ctx: SystemContext, changeRequestId: string): string =>
  `${ctx.appUrl}/not-me#change=${changeRequestId}&token=${createNotMeToken(ctx, changeRequestId)}`
