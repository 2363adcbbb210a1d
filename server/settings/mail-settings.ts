import * as z from 'zod'
import { parseNewAddress } from '@/contract/address'
import { MAIL_SOURCES, type MailSource } from '@/contract/vocabulary'
import { MAIL_EVENT_SOURCES } from '../adapters/mail-events/sources'
import { type Parsed, url, type Variables } from './setting-fields'

/** Stand-ins of local mode. */
const LOCAL_SENDER = 'no-reply@localhost'
const LOCAL_SUPPORT = 'support@example.com'

/** Mail programs read what follows a comma or a colon of an unquoted name as another address. */
const ONE_SENDER =
  /^(?:(?:"(?:[^"\\\r\n]|\\.)*"|[^"<>@,;:\r\n]*) *<[^\s<>@,]+@[^\s<>@,]+>|[^\s<>@,;:"]+@[^\s<>@,;:"]+)$/

const settingOf = (source: MailSource) => `MAIL_EVENTS_${source.toUpperCase()}`

const EVENT_FIELDS = Object.fromEntries(
  MAIL_SOURCES.map((source) => {
    const { form, must } = MAIL_EVENT_SOURCES[source].setting
    return [settingOf(source), z.string().regex(form, must).optional()]
  }),
)

export const MAIL_FIELDS = {
  ...EVENT_FIELDS,
  SMTP_URL: url(['smtp:', 'smtps:'], 'smtps://user:password@mail.example.com:465').optional(),
  SMTP_TLS: z.enum(['required', 'optional'], 'must be required or optional').default('required'),
  MAIL_FROM: z
    .string()
    .regex(ONE_SENDER, 'must be one address such as Accounts <no-reply@example.com>, a name with a comma in quotes')
    .optional(),
  MAIL_RETURN_PATH: z
    .string()
    .refine(
      (text) => parseNewAddress(text) !== null && /^[a-z0-9.-]{1,20}@/i.test(text),
      'must be an address such as bounce@mail.example.com, with 20 characters at most before the @',
    )
    .optional(),
  SUPPORT_EMAIL: z
    .string()
    .refine((text) => parseNewAddress(text) !== null, 'must be one plain address')
    .default(LOCAL_SUPPORT),
  SECURITY_CONTACT: url(['mailto:', 'https:'], 'mailto:security@example.com').optional(),
}

export function mailSettings(
  settings: Parsed<typeof MAIL_FIELDS>,
  { isProduction, brand }: { isProduction: boolean; brand: { name: string } },
) {
  return {
    /** Undefined: messages are kept in `dataDir` and shown at /dev/mailbox. */
    smtpUrl: settings.SMTP_URL,
    /** Whether no message and no password goes to the mail server in the clear. */
    smtpNeedsTls:
      isProduction &&
      settings.SMTP_TLS === 'required' &&
      settings.SMTP_URL !== undefined &&
      !isLoopback(new URL(settings.SMTP_URL).hostname),
    mailFrom: settings.MAIL_FROM ?? `${quoted(brand.name)} <${LOCAL_SENDER}>`,
    /** The address that messages come back to, each with an id of its own after a `+`; undefined: they come back to the sender. */
    mailReturnPath: settings.MAIL_RETURN_PATH,
    /** The setting of each source that may tell what became of messages. */
    mailEvents: Object.fromEntries(
      MAIL_SOURCES.flatMap((source) => {
        const value = (settings as Record<string, unknown>)[settingOf(source)]
        return typeof value === 'string' ? [[source, value]] : []
      }),
    ),
    supportEmail: settings.SUPPORT_EMAIL,
    /** A URL, for /.well-known/security.txt. */
    securityContact: settings.SECURITY_CONTACT ?? `mailto:${settings.SUPPORT_EMAIL}`,
  }
}

export const mailProblems = ({ MAIL_FROM, SUPPORT_EMAIL }: Variables): string[] => [
  ...(MAIL_FROM?.includes(LOCAL_SENDER)
    ? [`MAIL_FROM must be an address of yours when APP_ENV is production, not ${LOCAL_SENDER}.`]
    : []),
  ...(SUPPORT_EMAIL === LOCAL_SUPPORT
    ? [`SUPPORT_EMAIL must be an address of yours when APP_ENV is production, not ${LOCAL_SUPPORT}.`]
    : []),
]

/** A name before an address. Unquoted, a colon or a comma in it would begin a group or another address. */
const quoted = (name: string) => `"${name.replaceAll('\\', '\\\\')}"`

/** Where nobody else can listen. */
const isLoopback = (host: string) => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host)
