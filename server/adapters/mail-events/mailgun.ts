import { createHmac } from 'node:crypto'
import * as z from 'zod'
import {
  isFresh,
  isSame,
  type MailEventAdapter,
  MESSAGE_KEY,
  messageByHeader,
  messageById,
  parseJson,
  requireGenuine,
  toEvents,
} from './mail-event-adapter'

const shape = z.object({
  signature: z.object({ timestamp: z.string(), token: z.string(), signature: z.string() }),
  'event-data': z
    .object({
      event: z.string(),
      severity: z.string().optional(),
      recipient: z.string(),
      timestamp: z.number(),
      message: z.object({ headers: z.object({ 'message-id': z.string().optional() }).optional() }).optional(),
      'user-variables': z.record(z.string(), z.unknown()).optional(),
    })
    .nullable()
    .catch(null),
})

/** What is signed is a time and a token, and not the event. */
export const mailgun: MailEventAdapter = {
  setting: { form: /^[\x21-\x7e]{16,}$/, must: 'must be the signing key of the webhooks' },
  header: (messageId) => ['X-Mailgun-Variables', JSON.stringify({ [MESSAGE_KEY]: messageId })],
  create: ({ secret, host }) => ({
    async read({ body }, now) {
      const call = parseJson(shape, body)
      requireGenuine(call !== null)
      const { timestamp, token, signature } = call.signature
      const expected = createHmac('sha256', secret)
        .update(timestamp + token)
        .digest('hex')
      requireGenuine(isSame(signature, expected) && isFresh(new Date(Number(timestamp) * 1000), now))
      const data = call['event-data']
      if (!data) return []
      const { event, severity, recipient, message, 'user-variables': variables } = data
      const failed = severity === 'permanent' ? ('undeliverable' as const) : ('deferred' as const)
      const states = new Map([
        ['failed', failed],
        ['delivered', 'delivered' as const],
        ['complained', 'complained' as const],
      ])
      const about = messageById(variables?.[MESSAGE_KEY]) ?? messageByHeader(message?.headers?.['message-id'], host)
      return toEvents(about, states.get(event), { addresses: [recipient], at: new Date(data.timestamp * 1000) })
    },
  }),
}
