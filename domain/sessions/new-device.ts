import type { Transaction } from '../context'
import { day, SIGN_IN_LINK_MS } from '../limits/durations'
import { defineNotice, sealedFacts } from '../mail/define-notice'
import { addNotice } from '../mail/notice-queue'
import { openSealed } from '../sealed'
import { fenced, type RowOf, sql, statement, text, time } from '../sql'
import { signInLink } from './sign-in-link'

/** Further new devices of a day are told in one mail when that day ends. */
const MAX_MAILS = 3
export const NEW_DEVICE_WINDOW_MS = day
export const NEW_DEVICE_WINDOW = {
  now: time,
  /** Mails that were sent after this count. */
  mailedAfter: time,
}
/** More would make a mail that nobody reads. */
const MAX_LISTED = 10

/** A sign-in from a device that its account has not been seen on. */
export interface NewDevice {
  userId: string
  sessionId: string
  userAgent: string
  ip: string
  at: Date
}

interface Recipient {
  userId: string
  /** The address at that time. */
  to: string
  emailKey: string
  userName: string
  hasPassword: boolean
  /** Only a verified address learns more than the time. */
  isVerified: boolean
}

interface DeviceFacts extends Recipient, NewDevice {}

export const newDevice = defineNotice<DeviceFacts, 'sealed'>({
  name: 'new_device',
  ...sealedFacts<DeviceFacts>(),
  message: (ctx, { userName, hasPassword, isVerified, at, userAgent, ip: ipAddress, ...link }) => ({
    template: 'new-device',
    userName,
    hasPassword,
    signedInAt: at,
    details: isVerified ? { userAgent, ipAddress, notMe: signInLink(ctx, { ...link, at }) } : null,
  }),
})

interface DigestFacts extends Recipient {
  /** The newest first, and how many were left out. */
  signIns: RowOf<typeof signInsOfDigest>[]
  more: number
  firstAt: Date
}

const signInsOfDigest = statement(
  'sign-ins-of-digest',
  { noticeId: text },
  { session_id: text, user_agent: text, ip: text, at: time, link_until: time.orNull },
  (v) => sql`SELECT coalesce(session_id, '') AS session_id, user_agent, ip, at, link_until
   FROM (${fenced(sql`SELECT * FROM sign_ins WHERE notice_id = ${v.noticeId}`)}) AS listed ORDER BY at DESC, id`,
)

/** The letter is made when its day has ended, of all sign-ins that name it. */
export const newDevices = defineNotice<DigestFacts, 'sealed'>({
  name: 'new_devices',
  keep: ({ signIns: _, more: __, firstAt: ___, ...sealed }) => ({ sealed }),
  recipients: { sealed: ({ to }) => to },
  message(ctx, { userName, hasPassword, isVerified, signIns, more, firstAt, ...link }) {
    const linked = signIns.find(({ link_until: until }) => until !== null)
    return {
      template: 'new-devices',
      userName,
      hasPassword,
      signIns: isVerified ? signIns.map(({ user_agent: userAgent, ip: ipAddress }) => ({ userAgent, ipAddress })) : [],
      more: isVerified ? more : signIns.length + more,
      notMe: isVerified && linked ? signInLink(ctx, { ...link, sessionId: linked.session_id, at: linked.at }) : null,
      firstAt,
      lastAt: signIns[0]?.at ?? firstAt,
    }
  },
  async read(ctx, { id: noticeId, sealed }) {
    const opened = openSealed<Recipient>(ctx, sealed)
    const signIns = opened ? await ctx.sql(signInsOfDigest, { noticeId }) : []
    if (!opened || signIns.length === 0) return null
    const [firstAt, more] = [(signIns.at(-1) as { at: Date }).at, Math.max(0, signIns.length - MAX_LISTED)]
    return { ...opened, signIns: signIns.slice(0, MAX_LISTED), more, firstAt }
  },
})

interface AccountOfSignIn {
  name: string
  email: string
  email_key: string
  locale: string | null
  is_verified: boolean
  has_password: boolean
  mailed: number
  mailed_since: Date | null
  digest_id: string | null
  digest_sealed: Buffer | null
}

/** Mails the address at once, or adds the sign-in to the mail that is sent when the day ends. `tx` must hold the account's lock. */
export async function notifyOfNewDevice(
  tx: Transaction,
  {
    name,
    email,
    email_key,
    locale,
    is_verified,
    has_password,
    mailed,
    mailed_since,
    digest_id,
    digest_sealed,
  }: AccountOfSignIn,
  found: NewDevice,
): Promise<{ linkUntil: Date | null; noticeId: string | null }> {
  if (!tx.newDeviceMail) return { linkUntil: null, noticeId: null }
  const { userId, at } = found
  const linkUntil = is_verified ? new Date(at.getTime() + SIGN_IN_LINK_MS) : null
  const recipient = {
    ...{ userId, to: email, emailKey: email_key, userName: name },
    ...{ hasPassword: has_password, isVerified: is_verified },
  }
  if (mailed < MAX_MAILS) {
    await addNotice(tx, newDevice, { userId, locale, recipients: ['sealed'], at }, { ...recipient, ...found })
    return { linkUntil, noticeId: null }
  }
  // One that was opened for another address tells only what happened before the change.
  const opened = openSealed<Recipient>(tx, digest_sealed)
  const isForAddress = opened?.emailKey === email_key && opened.isVerified === is_verified
  const noticeId = (isForAddress && digest_id) || tx.secrets.randomId('ntc_')
  if (noticeId !== digest_id) {
    const dueAt = new Date((mailed_since ?? at).getTime() + NEW_DEVICE_WINDOW_MS)
    const row = { id: noticeId, userId, locale, recipients: ['sealed' as const], at, dueAt }
    await addNotice(tx, newDevices, row, { ...recipient, signIns: [], more: 0, firstAt: at })
  }
  return { linkUntil, noticeId }
}
