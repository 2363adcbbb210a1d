import { createHmac } from 'node:crypto'
import * as z from 'zod'
import {
  anything,
  isFresh,
  isMailboxFull,
  isSame,
  loose,
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

const shape = z.object({
  signature: z.object({ timestamp: z.string(), token: z.string(), signature: z.string() }),
  'event-data': loose(
    z.object({
      event: z.string(),
      severity: anything,
      reason: anything,
      recipient: anything,
      timestamp: anything,
      'delivery-status': anything,
      message: loose(z.object({ headers: anything })),
      'user-variables': anything,
    }),
  ),
})

type EventData = NonNullable<z.output<typeof shape>['event-data']>

/** The reasons of a permanent failure that say nothing of the address: given up, blocked, or not wanted. */
const SOFT_REASONS: readonly unknown[] = ['old', 'espblock', 'greylisted', 'suppress-complaint', 'suppress-unsubscribe']

function outcomeOf({ event, severity, reason, 'delivery-status': status }: EventData): Outcome | undefined {
  if (event === 'delivered' || event === 'complained') return event
  if (event !== 'failed') return undefined
  if (severity !== 'permanent') return 'deferred'
  const isSoft = SOFT_REASONS.includes(reason) || valueIn(status, 'bounce-type') === 'soft'
  return isSoft || isMailboxFull(valueIn(status, 'enhanced-code')) ? 'soft' : 'hard'
}

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
      const about =
        messageIn(data['user-variables']) ?? messageByHeader(valueIn(data.message?.headers, 'message-id'), host)
      return toEvents(about, outcomeOf(data), { to: [data.recipient], at: timeOf(data.timestamp) })
    },
  }),
}
