import { type Address, maskAddress } from '@/contract/address'
import type { VerificationMethod } from '@/contract/email'
import type { Context, SystemContext } from '../context'
import type { SentMail } from '../mail/mail-deliveries'
import { noteSent } from '../mail/notice-queue'
import { isOwnAddress } from './set-address'

/** The code is bound to its request: the MAC of one request's code fits no other request. */
const macText = (changeRequestId: string, code: string) => `${changeRequestId}:${code}`

export const macOfCode = (ctx: SystemContext, changeRequestId: string, code: string): Buffer =>
  ctx.secrets.mac('verification-code', macText(changeRequestId, code))

/** One MAC for each key that may have made it, newest first. */
export const macsOfCode = (ctx: SystemContext, changeRequestId: string, code: string): Buffer[] =>
  ctx.secrets.macs('verification-code', macText(changeRequestId, code))

interface Verification {
  /** The change request. */
  id: string
  /** The same in all tries of one message, and different for each message of a request. */
  messageId: string
  address: Address
  code: string
  /** Which of code and link comes first. */
  method: VerificationMethod
  validMs: number
}

/** Sends to the new address, or to the account's own; true when the mail server accepted the message. */
export async function sendVerification(ctx: Context, verification: Verification): Promise<boolean> {
  const { email } = ctx.actor.user
  const isOwn = isOwnAddress(ctx, verification.address)
  const outcome = await ctx.mail.send({
    to: verification.address.deliverable,
    id: verification.messageId,
    userId: ctx.actor.userId,
    locale: ctx.actor.user.locale,
    message: {
      template: 'verify-new-email',
      userName: ctx.actor.user.name,
      isOwn,
      currentEmail: maskAddress(email),
      newEmail: verification.address.typed,
      code: verification.code,
      link: verificationLink(ctx, verification, isOwn, email),
      validMs: verification.validMs,
      validUntil: new Date(ctx.clock.now().getTime() + verification.validMs),
      firstMethod: verification.method,
    },
  })
  return outcome === 'accepted'
}

/** Called when the request was written, so that what becomes of the message finds it. */
export const recordVerification = (
  ctx: Context,
  { changeId, messageId, to, sentAt }: Pick<SentMail, 'messageId' | 'to' | 'sentAt'> & { changeId: string },
): Promise<void> =>
  noteSent(ctx, { messageId, userId: ctx.actor.userId, kind: 'verification', recipient: null, changeId, to, sentAt })

/**
 * The secret is in the fragment, which no browser sends to a server. Behind it the page reads whether the address is the account's
 * own, and what the masked address to sign in with shows, in ASCII, so that no mail program cuts the link.
 */
function verificationLink(ctx: SystemContext, { id, code, address }: Verification, isOwn: boolean, email: string) {
  const page = ctx.settingsUrl ?? `${ctx.appUrl}/verify-email`
  const as = encodeURIComponent(email.slice(0, 1) + email.slice(email.lastIndexOf('@')))
  // Nobody could tell it from the new one.
  const isAlike = !isOwn && maskAddress(email) === maskAddress(address.typed)
  return `${page}#request=${id}&code=${code}${isOwn ? '&own=1' : ''}${isAlike ? '' : `&as=${as}`}`
}
