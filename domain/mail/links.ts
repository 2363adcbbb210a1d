import type { ErrorCode } from '@/contract/errors'
import type { Link, SystemContext } from '../context'
import { PASSWORD_RESET_MS, WITHDRAWAL_LINK_MS } from '../limits/durations'
import type { BucketName } from '../limits/limits'
import { MAC_TEXT, type MacPurpose } from '../ports'

interface LinkRow {
  /** Begins the token. */
  prefix: string
  mac: MacPurpose
  /** The page that the link opens; its fragment holds the token. */
  page: string
  lifetimeMs: number
  /** One answer for every link that does not work. */
  refusal: ErrorCode
  /** The limits of its messages: of an account in an hour and a day, and of a pair of account and client in a day. */
  perAccount: BucketName
  perAccountDay: BucketName
  perPair: BucketName
  /** The limit of the requests for them. */
  perClient: BucketName
  /**
   * What the link does cannot be taken back. So an address that can undo a change may ask too, and there is no link where a mailbox is
   * not proof enough.
   */
  isFinal: boolean
  /** What the audit calls a request that was answered. */
  requested: string
}

/** Every kind of mailed link that works once, one row each, under the kind of the notice that carries it. */
export const LINKS = {
  password_reset: {
    prefix: 'prt_',
    mac: 'password-reset',
    page: '/reset-password',
    lifetimeMs: PASSWORD_RESET_MS,
    refusal: 'PASSWORD_002',
    perAccount: 'passwordReset',
    perAccountDay: 'passwordResetDay',
    perPair: 'passwordResetPair',
    perClient: 'passwordResetAddress',
    isFinal: false,
    requested: 'password_reset.requested',
  },
  withdrawal_requested: {
    prefix: 'wrt_',
    mac: 'withdrawal-request',
    page: '/delete-account/confirm',
    lifetimeMs: WITHDRAWAL_LINK_MS,
    refusal: 'WITHDRAWAL_006',
    perAccount: 'withdrawalRequest',
    perAccountDay: 'withdrawalRequestDay',
    perPair: 'withdrawalRequestPair',
    perClient: 'withdrawalRequestAddress',
    isFinal: true,
    requested: 'withdrawal.requested',
  },
} as const satisfies Record<string, LinkRow>
export type LinkKind = keyof typeof LINKS

const textOf = ({ noticeId, userId, emailKey, credentialVersion, endsAt }: Link) =>
  [noticeId, userId, emailKey, credentialVersion, endsAt.getTime()].join('\n')

/** The token is derived from the account and stored nowhere. It is in the fragment, which no browser sends to a server. */
export function linkUrl(ctx: SystemContext, kind: LinkKind, link: Link): string {
  const { prefix, mac, page } = LINKS[kind]
  const token = `${prefix}${link.noticeId.slice('ntc_'.length)}.${ctx.secrets.mac(mac, textOf(link)).toString('base64url')}`
  return `${ctx.appUrl}${page}#token=${token}`
}

const TOKEN = new RegExp(`^([A-Za-z0-9_-]{22})\\.(${MAC_TEXT})$`)

/** Null for what cannot be such a token. */
export function readLinkToken(kind: LinkKind, token: string): { noticeId: string; mac: Buffer } | null {
  const { prefix } = LINKS[kind]
  const [, id, mac = ''] = (token.startsWith(prefix) && TOKEN.exec(token.slice(prefix.length))) || []
  return id === undefined ? null : { noticeId: `ntc_${id}`, mac: Buffer.from(mac, 'base64url') }
}

export const isTokenOf = (ctx: SystemContext, kind: LinkKind, mac: Buffer, link: Link): boolean =>
  ctx.secrets.macMatches(LINKS[kind].mac, textOf(link), mac)
