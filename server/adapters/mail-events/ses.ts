import { verify, X509Certificate } from 'node:crypto'
import * as z from 'zod'
import { AppError } from '@/contract/errors'
import { minute } from '@/domain/limits/durations'
import type { MailEvent } from '@/domain/ports'
import {
  anything,
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

const envelope = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: z.string(),
  TopicArn: z.string(),
  Subject: z.string().nullish(),
  Message: z.string(),
  Timestamp: z.string(),
  Token: z.string().nullish(),
  SubscribeURL: z.string().nullish(),
  SignatureVersion: z.enum(['1', '2']),
  Signature: z.string(),
  SigningCertURL: z.string(),
})
type Envelope = z.output<typeof envelope>

const recipients = z.array(z.unknown())
const notification = z.object({
  eventType: anything,
  notificationType: anything,
  mail: z.object({ tags: anything, headers: anything }),
  bounce: loose(
    z.object({
      bounceType: anything,
      bounceSubType: anything,
      bouncedRecipients: recipients,
      timestamp: anything,
    }),
  ),
  complaint: loose(z.object({ complainedRecipients: recipients, timestamp: anything })),
  delivery: loose(z.object({ recipients, timestamp: anything })),
  deliveryDelay: loose(z.object({ delayedRecipients: recipients, timestamp: anything })),
})

const MAX_CERTIFICATE_BYTES = 16 * 1024
const TIMEOUT_MS = 5_000
/** How many certificates are asked for within a minute. Anybody can name one that does not exist. */
const MAX_CERTIFICATES_A_MINUTE = 10

/** Amazon SES reports through Amazon SNS. The setting names the topics, because anybody can have a topic that Amazon signs. */
export const ses: MailEventAdapter = {
  setting: {
    form: /^arn:aws[\w-]*:sns:[a-z0-9-]+:\d{12}:[\w-]+(,arn:aws[\w-]*:sns:[a-z0-9-]+:\d{12}:[\w-]+)*$/,
    must: 'must be the ARN of the SNS topic, or several separated by commas',
  },
  types: ['application/json', 'text/plain'],
  header: (messageId) => ['X-SES-MESSAGE-TAGS', `${MESSAGE_KEY}=${messageId}`],
  create({ secret, host, fetch }) {
    const topics = secret.split(',')
    const certificates = new Map<string, X509Certificate>()
    let downloads: { url: string; at: number; certificate: Promise<X509Certificate> }[] = []
    /** An answer is kept for a minute, also a bad one, and calls of the same moment share it. */
    const readOnce = (url: string, now: Date): Promise<X509Certificate> => {
      downloads = downloads.filter(({ at }) => at > now.getTime() - minute)
      const known = downloads.find((one) => one.url === url)
      if (known) return known.certificate
      if (downloads.length >= MAX_CERTIFICATES_A_MINUTE) throw new AppError('SERVER_002', undefined, minute / 1000)
      const certificate = readCertificate(fetch, url)
      downloads.push({ url, at: now.getTime(), certificate })
      return certificate
    }
    return {
      async read({ body }, now) {
        const call = parseJson(envelope, body)
        requireGenuine(call !== null && topics.includes(call.TopicArn))
        const { SigningCertURL: url } = call
        requireGenuine(isOfSns(call, url) && CERTIFICATE.test(url))
        const certificate = certificates.get(url) ?? (await readOnce(url, now))
        // Amazon repeats a call for hours with its first time, so its age says nothing. A repeated event has no second effect.
        requireGenuine(isSigned(call, certificate))
        // Kept only now, so that nobody fills the memory with certificates.
        certificates.set(url, certificate)
        if (call.Type === 'Notification') return eventsOf(call.Message, host)
        if (call.Type === 'SubscriptionConfirmation' && isOfSns(call, call.SubscribeURL)) {
          await askAmazon(fetch, call.SubscribeURL ?? '')
        }
        return []
      },
    }
  },
}

const CERTIFICATE = /^https:\/\/[a-z0-9.-]+\/SimpleNotificationService-[0-9a-f]{1,64}\.pem$/

/** Whether the URL is of Amazon SNS in the region of the topic. Other hosts of Amazon serve the files of its customers. */
function isOfSns({ TopicArn }: Envelope, text: string | null | undefined): boolean {
  const [, partition, , region] = TopicArn.split(':')
  const url = text && URL.canParse(text) ? new URL(text) : null
  return (
    url?.origin === `https://sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}` && url.username === ''
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
  const notified = parseJson(notification, text)
  if (!notified) return []
  const { mail, bounce, complaint, delivery, deliveryDelay: delay } = notified
  const message = messageIn(mail.tags) ?? messageByHeader(valueIn(mail.headers, 'message-id'), host)
  const event = (outcome: Outcome, to: readonly unknown[] = [], timestamp: unknown) =>
    toEvents(message, outcome, { to: to.map((one) => valueIn(one, 'emailaddress') ?? one), at: timeOf(timestamp) })
  switch (notified.eventType ?? notified.notificationType) {
    case 'Bounce':
      return bounce ? event(outcomeOf(bounce), bounce.bouncedRecipients, bounce.timestamp) : []
    case 'Complaint':
      return event('complained', complaint?.complainedRecipients, complaint?.timestamp)
    case 'Delivery':
      return event('delivered', delivery?.recipients, delivery?.timestamp)
    case 'DeliveryDelay':
      return event('deferred', delay?.delayedRecipients, delay?.timestamp)
    default:
      return []
  }
}

/** The transient bounces that are final. Most others are automatic answers. */
const SOFT_BOUNCES: readonly unknown[] = [
  'MailboxFull',
  'MessageTooLarge',
  'ContentRejected',
  'AttachmentRejected',
  'CustomTimeoutExceeded',
]

function outcomeOf({ bounceType, bounceSubType }: { bounceType?: unknown; bounceSubType?: unknown }): Outcome {
  if (bounceType === 'Permanent') return 'hard'
  return bounceType === 'Transient' && SOFT_BOUNCES.includes(bounceSubType) ? 'soft' : 'deferred'
}
