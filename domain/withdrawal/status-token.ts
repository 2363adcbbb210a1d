import type { SystemContext } from '../context'
import { MAC_TEXT } from '../ports'

const STATUS_TOKEN = new RegExp(`^wst_(${MAC_TEXT})$`)

/** Derived from the withdrawal's id with a key that is not in the database; stored nowhere. */
export const createStatusToken = (ctx: SystemContext, withdrawalId: string): string =>
  `wst_${ctx.secrets.mac('status-token', withdrawalId).toString('base64url')}`

export function isStatusTokenOf(ctx: SystemContext, token: string, withdrawalId: string): boolean {
  const mac = STATUS_TOKEN.exec(token)?.[1]
  return mac !== undefined && ctx.secrets.macMatches('status-token', withdrawalId, Buffer.from(mac, 'base64url'))
}
