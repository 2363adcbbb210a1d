import type { SystemContext } from '../context'
import { MAC_TEXT } from '../ports'

const RESET_TOKEN = new RegExp(`^prt_([A-Za-z0-9_-]{22})\\.(${MAC_TEXT})$`)

/** The facts that a reset link is bound to. */
export interface ResetLink {
  /** The id of the message. It leads to the account but reveals nothing about it. */
  noticeId: string
  userId: string
  /** The link works only while the account has the address that it was sent to. */
  emailKey: string
  /** Rises with every new password, so that a link works once. */
  credentialVersion: number
  endsAt: Date
}

const textOf = ({ noticeId, userId, emailKey, credentialVersion, endsAt }: ResetLink) =>
  [noticeId, userId, emailKey, credentialVersion, endsAt.getTime()].join('\n')

/** The token is derived from the account and stored nowhere. */
export const createResetToken = (ctx: SystemContext, link: ResetLink): string =>
  `prt_${link.noticeId.slice('ntc_'.length)}.${ctx.secrets.mac('password-reset', textOf(link)).toString('base64url')}`

/** Null for what cannot be such a token. */
export function readResetToken(token: string): { noticeId: string; mac: Buffer } | null {
  const [, id, mac = ''] = RESET_TOKEN.exec(token) ?? []
  return id === undefined ? null : { noticeId: `ntc_${id}`, mac: Buffer.from(mac, 'base64url') }
}

export const isResetTokenOf = (ctx: SystemContext, mac: Buffer, link: ResetLink): boolean =>
  ctx.secrets.macMatches('password-reset', textOf(link), mac)
