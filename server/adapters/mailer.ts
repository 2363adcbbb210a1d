import type { createTransport, SendMailOptions, Transporter } from 'nodemailer'
import { MAX_MAIL_MS } from '@/domain/limits/durations'
import { deliveryId } from '@/domain/mail/mail-deliveries'
import type { Mail, Secrets } from '@/domain/ports'
import { deleteMessages, storeMessage } from '../local/mailbox'
import type { Env } from '../settings/env'
import { describeError, log } from '../watch/log'
import { metrics } from '../watch/metrics'
import type { LetterFile, MessageSettings } from './letters'
import { headersForEvents } from './mail-events/sources'
import { createSemaphore } from './semaphore'
import { isRefusalForGood } from './smtp-replies'

type Settings = Pick<Env, 'smtpUrl' | 'smtpNeedsTls' | 'mailFrom' | 'mailReturnPath' | 'mailEvents'> & MessageSettings
type Deliver = (
  envelope: { to: string; id: string; userId: string },
  content: { subject: string; html: string; text: string; files: LetterFile[] },
) => Promise<void>

/** The rest of MAX_MAIL_MS is left for sending, because a message that is aborted midway may go out although it counts as deferred. */
const MAX_QUEUE_MS = 5_000
const MAX_CONNECTIONS = 10

/** Loaded on demand: react-email takes longer to load than everything else, and only requests that send mail need it. */
export const loadMessages = () => import('./messages')

export function createMailer(settings: Settings, secrets: Pick<Secrets, 'mac'>): Mail {
  const deliver = settings.smtpUrl ? overSmtp(settings.smtpUrl, settings, secrets) : toMailbox(settings)
  return {
    async send({ to, id, userId, locale, message }) {
      const startedAt = performance.now()
      const { outcome, ...details } = await loadMessages()
        .then(({ renderMessage }) => renderMessage(message, locale, settings))
        .then((content) => deliver({ to, id, userId }, content))
        .then(
          () => ({ outcome: 'accepted' as const }),
          // The server's reply can repeat the address, so only its code is logged.
          (error) => ({
            outcome: isRefusalForGood(error) ? ('refused' as const) : ('deferred' as const),
            ...describeError(error),
            responseCode: error?.responseCode,
          }),
        )
      log()[outcome === 'accepted' ? 'info' : 'warn']({
        event: `mail_${outcome}`,
        ...details,
        template: message.template,
        messageId: id,
        ms: Math.round(performance.now() - startedAt),
      })
      metrics().mails.inc({ template: message.template, result: outcome })
      return outcome
    },
    deleteMessages: (userId) => (settings.smtpUrl ? Promise.resolve() : deleteMessages(userId)),
  }
}

function overSmtp(url: string, settings: Settings, secrets: Pick<Secrets, 'mac'>): Deliver {
  const { smtpNeedsTls, mailFrom, mailReturnPath, appUrl } = settings
  let opened: Promise<Transporter> | undefined
  const host = new URL(appUrl).hostname
  const connections = createSemaphore(MAX_CONNECTIONS, { maxWaitMs: MAX_QUEUE_MS })
  return async ({ to, id }, { files, ...content }) => {
    const deadline = performance.now() + MAX_MAIL_MS
    opened ??= openTransport(url, smtpNeedsTls).catch((error) => {
      opened = undefined
      throw error
    })
    const transport = await opened
    await connections.acquire()
    // Not the id itself: whoever asked for a change knows it, and could make bounces of messages that they never saw.
    const delivery = deliveryId(secrets, id)
    const message: SendMailOptions & { signal: AbortSignal } = {
      ...content,
      attachments: files.map(({ name: filename, type: contentType, content }) => ({ filename, contentType, content })),
      from: mailFrom,
      to: { name: '', address: to },
      messageId: `<${delivery}@${host}>`,
      headers: { 'Auto-Submitted': 'auto-generated', ...asTheyAre(headersForEvents(settings, id)) },
      ...(mailReturnPath && returning(mailReturnPath, { to, id: delivery })),
      signal: AbortSignal.timeout(Math.max(0, Math.round(deadline - performance.now()))),
    }
    await transport.sendMail(message).finally(connections.release)
  }
}

/** Providers read JSON in a header, which would be encoded otherwise. */
const asTheyAre = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { prepared: true, value }]))

/** The message comes back by a path that names it. A server that can also names the recipient as it was asked for. */
const returning = (
  returnPath: string,
  { to, id }: { to: string; id: string },
): Pick<SendMailOptions, 'envelope' | 'dsn'> => ({
  envelope: { from: returnPath.replace('@', `+${id}@`), to },
  dsn: { id, return: 'headers', notify: ['failure', 'delay'], recipient: to },
})

const openTransport = async (url: string, requireTLS: boolean): Promise<Transporter> =>
  (await import('nodemailer')).createTransport({
    url,
    requireTLS,
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    connectionTimeout: 5_000,
    greetingTimeout: 5_000,
    socketTimeout: 8_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as Parameters<typeof createTransport>[0])

function toMailbox({ mailFrom }: Settings): Deliver {
  return ({ to, userId }, content) =>
    storeMessage({ at: new Date().toISOString(), userId, to, from: mailFrom, ...content })
}
