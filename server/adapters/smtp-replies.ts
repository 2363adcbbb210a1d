/** What nodemailer tells of a mail server's refusal. */
interface Refusal {
  /** EENVELOPE before the message itself was sent, EMESSAGE after. */
  code?: string
  /** What was refused: `RCPT TO`, `DATA` … */
  command?: string
  responseCode?: number
  /** Its first line begins with the code and perhaps an enhanced status code (RFC 3463). */
  response?: string
}

const RECIPIENT_REFUSED = [550, 551, 553, 556]
const MESSAGE_REFUSED = [550, 552, 554]
/** A bad sender (5.1.7, 5.1.8), the server's own trouble (5.3), a policy such as "relaying denied" (5.7): the operator can mend these. */
const NOT_THE_RECIPIENT = /^5\.(1\.[78]|3\.\d+|7\.\d+)$/
/** As above; but a message may be too large (5.3.4), or not wanted for what is in it (5.7.1). */
const NOT_THE_MESSAGE = /^5\.(1\.[78]|3\.(?!4$)\d+|7\.(?!1$)\d+)$/

/**
 * Whether the server will never take this message for this recipient, so that trying again is of no use. Refusals that would meet every
 * message (connection, sign-in, sender, a policy of the server) are none: nothing may be given up for a wrong setting.
 */
export function isRefusalForGood(error: unknown): boolean {
  const { code, command, responseCode = 0, response = '' } = (error ?? {}) as Refusal
  const status = /^5\d\d[ -](5\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] ?? ''
  if (command === 'RCPT TO') {
    if (NOT_THE_RECIPIENT.test(status)) return false
    return RECIPIENT_REFUSED.includes(responseCode) || status.startsWith('5.1.')
  }
  return code === 'EMESSAGE' && MESSAGE_REFUSED.includes(responseCode) && !NOT_THE_MESSAGE.test(status)
}
