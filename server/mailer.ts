import { setTimeout } from 'node:timers/promises'
import nodemailer from 'nodemailer'
import { createElement, type ReactElement } from 'react'
import { render, toPlainText } from 'react-email'
import type { Mail, Message } from '@/domain/context'
import AccountWithdrawalStarted from '@/emails/account-withdrawal-started'
import EmailChangeRequested from '@/emails/email-change-requested'
import EmailChanged from '@/emails/email-changed'
import VerifyNewEmail from '@/emails/verify-new-email'
import type { Env } from './env'
import { describeError, log } from './log'
import { forgetMessages, storeMessage } from './mailbox'
import { metrics } from './metrics'

type Settings = Pick<Env, 'smtpUrl' | 'mailFrom' | 'supportEmail' | 'appUrl'>
type Deliver = (
  envelope: { to: string; id: string; userId: string },
  content: { subject: string; html: string; text: string },
) => Promise<void>

/** However a mail server stalls, a request waits this long at most. */
const MOST_WAIT_MS = 10_000
const MOST_CONNECTIONS = 10

export function createMailer(settings: Settings): Mail {
  const deliver = settings.smtpUrl ? overSmtp(settings.smtpUrl, settings) : toMailbox(settings)
  return {
    async send({ to, id, userId, message }) {
      const startedAt = performance.now()
      const result = await deliver({ to, id, userId }, await renderMessage(message, settings)).then(
        () => ({ event: 'mail_accepted' }),
        // A server's answer can repeat the address, so only its code is kept.
        (error) => ({ event: 'mail_refused', ...describeError(error), responseCode: error?.responseCode }),
      )
      const accepted = result.event === 'mail_accepted'
      log()[accepted ? 'info' : 'warn']({
        ...result,
        template: message.template,
        messageId: id,
        ms: Math.round(performance.now() - startedAt),
      })
      metrics().mails.inc({ template: message.template, result: accepted ? 'accepted' : 'refused' })
      return accepted
    },
    forget: (userId) => (settings.smtpUrl ? Promise.resolve() : forgetMessages(userId)),
  }
}

function overSmtp(url: string, { mailFrom, appUrl }: Settings): Deliver {
  const transport = nodemailer.createTransport({
    url,
    pool: true,
    maxConnections: MOST_CONNECTIONS,
    connectionTimeout: 5_000,
    greetingTimeout: 5_000,
    socketTimeout: 8_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as Parameters<typeof nodemailer.createTransport>[0])
  const host = new URL(appUrl).hostname
  let sending = 0
  return async ({ to, id }, content) => {
    // What waits in the transport's own queue would still go out after we have given it up.
    const deadline = performance.now() + MOST_WAIT_MS
    while (sending >= MOST_CONNECTIONS) {
      if (performance.now() > deadline) throw Object.assign(new Error('mail server busy'), { code: 'EBUSY' })
      await setTimeout(50)
    }
    sending++
    const message = transport.sendMail({
      ...content,
      from: mailFrom,
      to: { name: '', address: to },
      messageId: `<${id}@${host}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
    message.catch(() => {}).finally(() => sending--)
    const tooSlow = setTimeout(deadline - performance.now(), undefined, { ref: false }).then(() =>
      Promise.reject(Object.assign(new Error('mail server too slow'), { code: 'ETIMEDOUT' })),
    )
    await Promise.race([message, tooSlow])
  }
}

/** Greets the server and signs in, on a connection of its own; rejects where that fails. */
export async function checkMailServer(url: string, mostWaitMs: number): Promise<void> {
  const waits = { connectionTimeout: mostWaitMs, greetingTimeout: mostWaitMs, socketTimeout: mostWaitMs }
  await nodemailer.createTransport({ url, ...waits }).verify()
}

function toMailbox({ mailFrom }: Settings): Deliver {
  return ({ to, userId }, content) =>
    storeMessage({ at: new Date().toISOString(), userId, to, from: mailFrom, ...content })
}

export async function renderMessage(
  message: Message,
  { supportEmail, appUrl }: Pick<Settings, 'supportEmail' | 'appUrl'>,
): Promise<{ subject: string; html: string; text: string }> {
  const { subject, element } = toElement(message, supportEmail, appUrl)
  const html = await render(element)
  return { subject, html, text: toPlainText(html) }
}

function toElement(message: Message, supportEmail: string, appUrl: string): { subject: string; element: ReactElement } {
  switch (message.template) {
    case 'verify-new-email':
      return { subject: VerifyNewEmail.subject, element: createElement(VerifyNewEmail, { ...message, supportEmail }) }
    case 'email-changed':
      return {
        subject: EmailChanged.subject,
        element: createElement(EmailChanged, { ...message, changedAt: formatUtc(message.changedAt), supportEmail }),
      }
    case 'email-change-requested':
      return {
        subject: EmailChangeRequested.subject,
        element: createElement(EmailChangeRequested, {
          ...message,
          requestedAt: formatUtc(message.requestedAt),
          settingsUrl: `${appUrl}/settings/email`,
          supportEmail,
        }),
      }
    case 'account-withdrawal-started':
      return {
        subject: AccountWithdrawalStarted.subject,
        element: createElement(AccountWithdrawalStarted, {
          ...message,
          scheduledCompletion: formatUtc(message.scheduledCompletion),
          supportEmail,
        }),
      }
  }
}

const utc = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
const formatUtc = (date: Date) => `${utc.format(date)} UTC`
