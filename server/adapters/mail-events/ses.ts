import { verify, X509Certificate } from 'node:crypto'
import * as z from 'zod'
import { AppError } from '@/contract/errors'
import type { MailEvent } from '@/domain/ports'
import {
  isFresh,
  type MailEventAdapter,
  MESSAGE_KEY,
  messageByHeader,
  messageById,
  parseJson,
  requireGenuine,
  timeOf,
  toEvents,
} from './mail-event-adapter'

const envelope = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: z.string(),
  TopicArn: z.string(),
  Subject: z.string().nullish(),
  Message: z.string(),
  Timestamp: z.string(),
  Token: z.string().optional(),
  SubscribeURL: z.string().optional(),
  SignatureVersion: z.enum(['1', '2']),
  Signature: z.string(),
  SigningCertURL: z.string(),
})
type Envelope = z.output<typeof envelope>

const recipients = z.array(z.object({ emailAddress: z.string() }))
const notification = z.object({
  eventType: z.string().optional(),
  notificationType: z.string().optional(),
  mail: z.object({
    tags: z.record(z.string(), z.array(z.string())).optional(),
    headers: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
  }),
  bounce: z
    .object({ bounceType: z.string(), bounceSubType: z.string(), bouncedRecipients: recipients, timestamp: z.string() })
    .optional(),
  complaint: z.object({ complainedRecipients: recipients, timestamp: z.string() }).optional(),
  delivery: z.object({ recipients: z.array(z.string()), timestamp: z.string() }).optional(),
  deliveryDelay: z.object({ delayedRecipients: recipients, timestamp: z.string() }).optional(),
})

const MAX_CERTIFICATE_BYTES = 16 * 1024
const TIMEOUT_MS = 5_000

/** Amazon SES reports through Amazon SNS. The setting names the topics, because anybody can have a topic that Amazon signs. */
export const ses: MailEventAdapter = {
  setting: {
    form: /^arn:aws[\w-]*:sns:[a-z0-9-]+:\d{12}:[\w-]+(,arn:aws[\w-]*:sns:[a-z0-9-]+:\d{12}:[\w-]+)*$/,
    must: 'must be the ARN of the SNS topic, or several separated by commas',
  },
  header: (messageId) => ['X-SES-MESSAGE-TAGS', `${MESSAGE_KEY}=${messageId}`],
  create({ secret, host, fetch }) {
    const topics = secret.split(',')
    const certificates = new Map<string, X509Certificate>()
    return {
      async read({ body }, now) {
        const call = parseJson(envelope, body)
        requireGenuine(call !== null && topics.includes(call.TopicArn) && isOfSns(call, call.SigningCertURL, '.pem'))
        const { SigningCertURL: url } = call
        const certificate = certificates.get(url) ?? (await readCertificate(fetch, url))
        requireGenuine(isSigned(call, certificate))
        // Kept only now, because anybody can name one certificate by any number of URLs.
        certificates.set(url, certificate)
        requireGenuine(isFresh(timeOf(call.Timestamp) ?? new Date(0), now))
        if (call.Type === 'Notification') return eventsOf(call.Message, host)
        if (call.Type === 'SubscriptionConfirmation' && isOfSns(call, call.SubscribeURL)) {
          await askAmazon(fetch, call.SubscribeURL ?? '')
        }
        return []
      },
    }
  },
}

/** Whether the URL is of Amazon SNS in the region of the topic. Other hosts of Amazon serve the files of its customers. */
function isOfSns({ TopicArn }: Envelope, text = '', ending = ''): boolean {
  const [, partition, , region] = TopicArn.split(':')
  const url = URL.canParse(text) ? new URL(text) : null
  return (
    url?.origin === `https://sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}` &&
    url.username === '' &&
    url.pathname.endsWith(ending)
  )
}

/** If Amazon cannot be reached, the call is refused as unavailable, so that it is sent again. */
async function askAmazon(load: typeof fetch, url: string): Promise<Response> {
  const response = await load(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => null)
  if (!response || response.status >= 500) throw new AppError('SERVER_002', undefined, 30)
  return response
}

/** A call that names a certificate that does not exist is not Amazon's. */
async function readCertificate(load: typeof fetch, url: string): Promise<X509Certificate> {
  const response = await askAmazon(load, url)
  const text = await response.text()
  requireGenuine(response.ok && text.length <= MAX_CERTIFICATE_BYTES && text.includes('-----BEGIN CERTIFICATE-----'))
  return new X509Certificate(text)
}

const isSigned = (call: Envelope, { publicKey }: X509Certificate): boolean =>
  verify(
    call.SignatureVersion === '2' ? 'sha256' : 'sha1',
    Buffer.from(signedTextOf(call)),
    publicKey,
    Buffer.from(call.Signature, 'base64'),
  )

/** The fields that are signed, each name and value on a line of its own. */
function signedTextOf(call: Envelope): string {
  const names =
    call.Type === 'Notification'
      ? (['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'] as const)
      : (['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'] as const)
  return names.flatMap((name) => (call[name] == null ? [] : [`${name}\n${call[name]}\n`])).join('')
}

function eventsOf(text: string, host: string): MailEvent[] {
  const told = parseJson(notification, text)
  if (!told) return []
  const { mail, bounce, complaint, delivery, deliveryDelay: delay } = told
  const original = mail.headers?.find(({ name }) => name.toLowerCase() === 'message-id')?.value
  const message = messageById(mail.tags?.[MESSAGE_KEY]?.[0]) ?? messageByHeader(original, host)
  const event = (state: MailEvent['state'], to: z.output<typeof recipients>, timestamp: string) =>
    toEvents(message, state, { addresses: to.map(({ emailAddress }) => emailAddress), at: timeOf(timestamp) })
  switch (told.eventType ?? told.notificationType) {
    case 'Bounce':
      return bounce
        ? event(isFinal(bounce) ? 'undeliverable' : 'deferred', bounce.bouncedRecipients, bounce.timestamp)
        : []
    case 'Complaint':
      return complaint ? event('complained', complaint.complainedRecipients, complaint.timestamp) : []
    case 'Delivery':
      return delivery
        ? toEvents(message, 'delivered', { addresses: delivery.recipients, at: timeOf(delivery.timestamp) })
        : []
    case 'DeliveryDelay':
      return delay ? event('deferred', delay.delayedRecipients, delay.timestamp) : []
    default:
      return []
  }
}

/** Whether Amazon has given up. Most other transient bounces are automatic answers. */
const isFinal = ({ bounceType, bounceSubType }: { bounceType: string; bounceSubType: string }) =>
  bounceType === 'Permanent' || (bounceType === 'Transient' && bounceSubType === 'MailboxFull')
