import * as z from 'zod'
import {
  anything,
  isSame,
  type MailEventAdapter,
  MESSAGE_KEY,
  messageIn,
  type Outcome,
  parseJson,
  requireGenuine,
  timeOf,
  toEvents,
} from './mail-event-adapter'

/** The types that decide the state. Other types are automatic answers, or not final. */
const BOUNCES = new Map<unknown, Outcome>([
  ['HardBounce', 'hard'],
  ['BadEmailAddress', 'hard'],
  ['SoftBounce', 'soft'],
  ['DnsError', 'soft'],
  ['ManuallyDeactivated', 'soft'],
  ['Blocked', 'soft'],
  ['DMARCPolicy', 'soft'],
  ['Transient', 'deferred'],
])

const shape = z.object({
  RecordType: z.enum(['Bounce', 'Delivery', 'SpamComplaint']),
  Type: anything,
  Email: anything,
  Recipient: anything,
  BouncedAt: anything,
  DeliveredAt: anything,
  Metadata: anything,
})

/** Postmark signs nothing: it sends the user and the password that the URL of the webhook has. */
export const postmark: MailEventAdapter = {
  setting: {
    form: /^[\x21-\x39\x3b-\x7e]+:[\x21-\x7e]{16,}$/,
    must: 'must be user:password as in the URL of the webhook, the password of 16 visible ASCII characters or more',
  },
  header: (messageId) => [`X-PM-Metadata-${MESSAGE_KEY}`, messageId],
  create: ({ secret }) => ({
    async read({ headers, body }) {
      const expected = `Basic ${Buffer.from(secret).toString('base64')}`
      requireGenuine(isSame(headers.get('Authorization') ?? '', expected))
      const record = parseJson(shape, body)
      if (!record) return []
      const { RecordType, Type, Email, Recipient, BouncedAt, DeliveredAt, Metadata } = record
      const outcome = { Bounce: BOUNCES.get(Type), Delivery: 'delivered', SpamComplaint: 'complained' } as const
      const about = { to: [Email, Recipient], at: timeOf(BouncedAt ?? DeliveredAt) }
      return toEvents(messageIn(Metadata), outcome[RecordType], about)
    },
  }),
}
