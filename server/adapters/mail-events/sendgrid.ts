import { createPublicKey, verify } from 'node:crypto'
import * as z from 'zod'
import {
  anything,
  isFresh,
  isMailboxFull,
  type MailEventAdapter,
  MESSAGE_KEY,
  messageByHeader,
  messageIn,
  type Outcome,
  parseJson,
  requireGenuine,
  timeOf,
  toEvents,
  valueIn,
} from './mail-event-adapter'

const OUTCOMES = new Map<string, Outcome>([
  ['bounce', 'hard'],
  ['dropped', 'soft'],
  ['deferred', 'deferred'],
  ['delivered', 'delivered'],
  ['spamreport', 'complained'],
])

const shape = z.array(z.unknown())
const one = z
  .object({ event: z.string(), type: anything, status: anything, email: anything, timestamp: anything })
  .loose()

/** A bounce that has another type than `bounce` was blocked, or its time was over. */
function outcomeOf({ event, type, status }: z.output<typeof one>): Outcome | undefined {
  const isBlocked = typeof type === 'string' && type !== 'bounce'
  return event === 'bounce' && (isBlocked || isMailboxFull(status)) ? 'soft' : OUTCOMES.get(event)
}

/** The setting is the public key of the signed event webhook; the service holds no secret of it. */
export const sendgrid: MailEventAdapter = {
  setting: {
    form: /^MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE[A-Za-z0-9+/]{86}==$/,
    must: 'must be the verification key of the signed event webhook, in base64',
  },
  header: (messageId) => ['X-SMTPAPI', JSON.stringify({ unique_args: { [MESSAGE_KEY]: messageId } })],
  create({ secret, host }) {
    const key = createPublicKey({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'spki' })
    return {
      async read({ headers, body }, now) {
        const signature = headers.get('X-Twilio-Email-Event-Webhook-Signature') ?? ''
        const timestamp = headers.get('X-Twilio-Email-Event-Webhook-Timestamp') ?? ''
        const signed = Buffer.concat([Buffer.from(timestamp), body])
        requireGenuine(verify('sha256', signed, key, Buffer.from(signature, 'base64')))
        requireGenuine(isFresh(new Date(Number(timestamp) * 1000), now))
        return (parseJson(shape, body) ?? []).flatMap((value) => {
          const { data } = one.safeParse(value)
          if (!data) return []
          const message = messageIn(data) ?? messageByHeader(valueIn(data, 'smtp-id'), host)
          return toEvents(message, outcomeOf(data), { to: [data.email], at: timeOf(data.timestamp) })
        })
      },
    }
  },
}
