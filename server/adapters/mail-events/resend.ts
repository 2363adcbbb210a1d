import { createHmac } from 'node:crypto'
import * as z from 'zod'
import {
  anything,
  isFresh,
  isSame,
  loose,
  type MailEventAdapter,
  messageByHeader,
  messageById,
  messageIn,
  type Outcome,
  parseJson,
  requireGenuine,
  timeOf,
  toEvents,
  valueIn,
} from './mail-event-adapter'

const OUTCOMES = new Map<string, Outcome>([
  ['email.bounced', 'soft'],
  ['email.suppressed', 'soft'],
  ['email.failed', 'soft'],
  ['email.delivery_delayed', 'deferred'],
  ['email.delivered', 'delivered'],
  ['email.complained', 'complained'],
])
const BOUNCES = new Map<unknown, Outcome>([
  ['Permanent', 'hard'],
  ['Undetermined', 'deferred'],
])

const shape = z.object({
  type: z.string(),
  created_at: anything,
  data: z.object({
    to: z.union([z.array(z.unknown()), z.string()]),
    tags: anything,
    headers: anything,
    message_id: anything,
    bounce: loose(z.object({ type: anything })),
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
        const { to, tags, headers: sent, message_id: messageId, bounce } = call.data
        const reference = messageById(valueIn(sent, REFERENCE.toLowerCase()))
        const message = messageIn(tags) ?? reference ?? messageByHeader(messageId, host)
        const isBounce = call.type === 'email.bounced'
        const outcome = (isBounce && BOUNCES.get(bounce?.type)) || OUTCOMES.get(call.type)
        return toEvents(message, outcome, { to: [to].flat(), at: timeOf(call.created_at) })
      },
    }
  },
}
