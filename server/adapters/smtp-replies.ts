/** The members of nodemailer's error that describe a mail server's refusal. */
interface Refusal {
  /** EENVELOPE when the refusal came before the message was sent, EMESSAGE after. */
  code?: string
  /** The refused command: `RCPT TO`, `DATA` … */
  command?: string
  responseCode?: number
  /** The first line begins with the code, and may have an enhanced status code (RFC 3463). */
  response?: string
}

const RECIPIENT_REFUSED = [550, 551, 553, 556]
const MESSAGE_REFUSED = [550, 552, 554]
/** Not permanent, because the operator can mend these: a bad sender (5.1.7, 5.1.8), trouble of the server (5.3), a policy such as "relaying denied" (5.7). */
const NOT_THE_RECIPIENT = /^5\.(1\.[78]|3\.\d+|7\.\d+)$/
/** The same without 5.3.4 (message too large) and 5.7.1 (content refused), which are permanent for this message. */
const NOT_THE_MESSAGE = /^5\.(1\.[78]|3\.(?!4$)\d+|7\.(?!1$)\d+)$/

/**
 * Whether the server refuses this message for this recipient permanently. Refusals that every message would meet (connection, sign-in,
 * sender, server policy) do not count, because no message may be given up for a wrong setting.
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
