import { AppError } from '@/contract/errors'
import type { MailSource } from '@/contract/vocabulary'
import type { MailEventCall, MailEventSource } from '@/domain/ports'
import { mediaTypeOf } from '../../http/media-type'
import { dsn } from './dsn'
import type { MailEventAdapter, MailEventSettings } from './mail-event-adapter'
import { mailgun } from './mailgun'
import { postmark } from './postmark'
import { resend } from './resend'
import { sendgrid } from './sendgrid'
import { ses } from './ses'

export const MAIL_EVENT_SOURCES: Readonly<Record<MailSource, MailEventAdapter>> = {
  ses,
  postmark,
  mailgun,
  sendgrid,
  resend,
  dsn,
}

interface Settings {
  /** The setting of each source that is switched on. */
  mailEvents: Partial<Record<MailSource, string>>
  mailReturnPath: string | undefined
  appUrl: string
}

const switchedOn = ({ mailEvents }: Pick<Settings, 'mailEvents'>) =>
  Object.entries(mailEvents).map(([name, secret]) => ({ name, secret, source: MAIL_EVENT_SOURCES[name as MailSource] }))

export function createMailEvents(
  settings: Settings,
  outside: Pick<MailEventSettings, 'fetch'> = { fetch },
): Partial<Record<MailSource, MailEventSource>> {
  const common = { host: new URL(settings.appUrl).hostname, returnPath: settings.mailReturnPath, ...outside }
  return Object.fromEntries(
    switchedOn(settings).map(({ name, secret, source }) => {
      const { types = ['application/json'], create } = source
      const { read } = create({ ...common, secret })
      return [name, { read: async (call, now) => read(requireType(call, types), now) } satisfies MailEventSource]
    }),
  )
}

function requireType(call: MailEventCall, types: readonly string[]): MailEventCall {
  if (types.includes(mediaTypeOf(call.headers))) return call
  throw new AppError('REQUEST_003', `Send the body as Content-Type: ${types.join(', ')}.`)
}

/** The headers by which the events of these sources name a message. */
export const headersForEvents = (settings: Settings, messageId: string): Record<string, string> =>
  Object.fromEntries(switchedOn(settings).flatMap(({ source }) => (source.header ? [source.header(messageId)] : [])))
