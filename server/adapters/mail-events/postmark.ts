import * as z from 'zod'
import type { MailEvent } from '@/domain/ports'
import {
  isSame,
  type MailEventAdapter,
  MESSAGE_KEY,
  messageById,
  parseJson,
  requireGenuine,
  timeOf,
  toEvents,
} from './mail-event-adapter'

/** The types that decide the state. Other types are automatic answers, or not final. */
const BOUNCES = new Map<string, MailEvent['state']>([
  ['HardBounce', 'undeliverable'],
  ['SoftBounce', 'undeliverable'],
  ['BadEmailAddress', 'undeliverable'],
  ['DnsError', 'undeliverable'],
  ['ManuallyDeactivated', 'undeliverable'],
  ['Blocked', 'undeliverable'],
  ['DMARCPolicy', 'undeliverable'],
  ['Transient', 'deferred'],
])

const shape = z.object({
  RecordType: z.enum(['Bounce', 'Delivery', 'SpamComplaint']),
  Type: z.string().optional(),
  Email: z.string().optional(),
  Recipient: z.string().optional(),
  BouncedAt: z.string().optional(),
  DeliveredAt: z.string().optional(),
  Metadata: z.record(z.string(), z.unknown()).optional(),
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
      const { RecordType, Type = '', Email, Recipient, BouncedAt, DeliveredAt, Metadata } = record
      const state = { Bounce: BOUNCES.get(Type), Delivery: 'delivered', SpamComplaint: 'complained' } as const
      const addresses = [Email, Recipient].filter((address) => address !== undefined)
      return toEvents(messageById(Metadata?.[MESSAGE_KEY]), state[RecordType], {
        addresses,
        at: timeOf(BouncedAt ?? DeliveredAt),
      })
    },
  }),
}
