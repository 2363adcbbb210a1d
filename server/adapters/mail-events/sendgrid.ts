import { createPublicKey, verify } from 'node:crypto'
import * as z from 'zod'
import type { MailEvent } from '@/domain/ports'
import {
  isFresh,
  type MailEventAdapter,
  MESSAGE_KEY,
  messageByHeader,
  messageById,
  parseJson,
  requireGenuine,
  toEvents,
} from './mail-event-adapter'

const STATES = new Map<string, MailEvent['state']>([
  ['bounce', 'undeliverable'],
  ['dropped', 'undeliverable'],
  ['deferred', 'deferred'],
  ['delivered', 'delivered'],
  ['spamreport', 'complained'],
])

const shape = z.array(z.unknown())
const one = z.object({
  email: z.string(),
  event: z.string(),
  timestamp: z.number(),
  'smtp-id': z.string().optional(),
  [MESSAGE_KEY]: z.string().optional(),
})

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
          const message = messageById(data[MESSAGE_KEY]) ?? messageByHeader(data['smtp-id'], host)
          return toEvents(message, STATES.get(data.event), {
            addresses: [data.email],
            at: new Date(data.timestamp * 1000),
          })
        })
      },
    }
  },
}
