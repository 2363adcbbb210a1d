import { createHmac } from 'node:crypto'
import * as z from 'zod'
import type { MailEvent } from '@/domain/ports'
import {
  isFresh,
  isSame,
  type MailEventAdapter,
  MESSAGE_KEY,
  messageByHeader,
  messageById,
  parseJson,
  requireGenuine,
  timeOf,
  toEvents,
} from './mail-event-adapter'

const STATES = new Map<string, MailEvent['state']>([
  ['email.bounced', 'undeliverable'],
  ['email.suppressed', 'undeliverable'],
  ['email.failed', 'undeliverable'],
  ['email.delivery_delayed', 'deferred'],
  ['email.delivered', 'delivered'],
  ['email.complained', 'complained'],
])

const named = z.array(z.object({ name: z.string(), value: z.string() }))
const shape = z.object({
  type: z.string(),
  created_at: z.string().optional(),
  data: z.object({
    to: z.array(z.string()),
    tags: z.union([named, z.record(z.string(), z.string())]).optional(),
    headers: named.optional(),
    message_id: z.string().optional(),
    bounce: z.object({ type: z.string().optional() }).optional(),
  }),
})

/** Tags of the event, or the header of ours that it repeats. */
const REFERENCE = 'X-Entity-Ref-ID'

/** Signed as Standard Webhooks are, under the names of Svix. */
export const resend: MailEventAdapter = {
  setting: { form: /^whsec_[A-Za-z0-9+/]{24,}={0,2}$/, must: 'must be the signing secret of the webhook, whsec_…' },
  header: (messageId) => [REFERENCE, messageId],
  create({ secret, host }) {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return {
      async read({ headers, body }, now) {
        const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map(
          (name) => headers.get(`svix-${name}`) ?? headers.get(`webhook-${name}`) ?? '',
        )
        const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
        requireGenuine((signatures ?? '').split(' ').some((signature) => isSame(signature, `v1,${expected}`)))
        requireGenuine(isFresh(new Date(Number(timestamp) * 1000), now))
        const call = parseJson(shape, body)
        if (!call) return []
        const { to, tags = {}, headers: sent = [], message_id: messageId, bounce } = call.data
        const tag = Array.isArray(tags) ? tags.find(({ name }) => name === MESSAGE_KEY)?.value : tags[MESSAGE_KEY]
        const reference = sent.find(({ name }) => name.toLowerCase() === REFERENCE.toLowerCase())?.value
        const message = messageById(tag) ?? messageById(reference) ?? messageByHeader(messageId, host)
        const isPassing = call.type === 'email.bounced' && bounce?.type === 'Undetermined'
        const state = isPassing ? 'deferred' : STATES.get(call.type)
        return toEvents(message, state, { addresses: to, at: timeOf(call.created_at) })
      },
    }
  },
}
