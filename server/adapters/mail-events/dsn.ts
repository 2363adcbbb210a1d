import type { Email } from 'postal-mime'
import type { MailEvent } from '@/domain/ports'
import {
  isSame,
  type MailEventAdapter,
  type MailEventSettings,
  messageByHeader,
  requireGenuine,
  timeOf,
} from './mail-event-adapter'

/** Delivery status notifications (RFC 3464) of one's own mail server. Other actions say nothing of the end. */
const STATES = new Map<string, MailEvent['state']>([
  ['failed', 'undeliverable'],
  ['delayed', 'deferred'],
  ['delivered', 'delivered'],
])

export const dsn: MailEventAdapter = {
  setting: { form: /^[\x21-\x7e]{16,}$/, must: 'must be 16 visible ASCII characters or more' },
  create: (settings) => ({
    async read({ headers, body }) {
      requireGenuine(isSame(headers.get('Authorization') ?? '', `Bearer ${settings.secret}`))
      const { default: PostalMime } = await import('postal-mime')
      const mail = await PostalMime.parse(body, { rfc822Attachments: true }).catch(() => null)
      return mail ? eventsOf(mail, settings) : []
    },
  }),
}

/** The return path names the message. Without one, the quoted message does. */
function eventsOf(mail: Email, { host, returnPath }: MailEventSettings): MailEvent[] {
  const status = partOf(mail, /^message\/(global-)?delivery-status$/)
  const message = returnPath === undefined ? quotedMessage(mail, host) : messageAt(mail, returnPath)
  if (status === undefined || message === null) return []
  const [, ...recipients] = status.split(/(?:\r?\n[ \t]*){2,}/)
  return recipients.flatMap((text) => {
    const fields = fieldsOf(text)
    const state = stateOf(fields)
    const addresses = ['original-recipient', 'final-recipient'].flatMap((name) => addressIn(fields.get(name)))
    return state ? [{ message, addresses, state, at: timeOf(mail.date) }] : []
  })
}

/** OpenSMTPD reports a message that it gives up as delayed, with the status of an expired delivery (RFC 3463, X.4.7). */
function stateOf(fields: Map<string, string>) {
  const action = fields.get('action')?.toLowerCase() ?? ''
  return STATES.get(action === 'delayed' && fields.get('status')?.startsWith('4.4.7') ? 'failed' : action)
}

function partOf({ attachments }: Email, type: RegExp): string | undefined {
  const part = attachments.find(({ mimeType }) => type.test(mimeType))
  if (!part) return undefined
  return typeof part.content === 'string' ? part.content : new TextDecoder().decode(part.content)
}

function quotedMessage(mail: Email, host: string) {
  const [head = ''] = (partOf(mail, /^(message\/(rfc822|global)|text\/rfc822-headers|message\/global-headers)$/) ?? '')
    .trimStart()
    .split(/\r?\n\r?\n/, 1)
  return messageByHeader(fieldsOf(head).get('message-id'), host)
}

// Anybody can send a report, so each expression here looks at a character a few times at most. This one begins where a word does.
const TAGGED = /(?<![^\s<>@+",;])([^\s<>@+",;]+)\+([0-9a-f]{40})@([^\s<>@",;]+)/g

/** The address that the report was sent to, `bounce+<id>@…`. */
function messageAt(mail: Email, returnPath: string): MailEvent['message'] | null {
  const [local, domain] = returnPath.toLowerCase().split('@')
  for (const { key, value } of mail.headers) {
    if (!['to', 'delivered-to', 'x-original-to', 'envelope-to'].includes(key)) continue
    for (const [, name, id, host] of value.toLowerCase().matchAll(TAGGED)) {
      if (name === local && host === domain && id !== undefined) return { deliveryId: id }
    }
  }
  return null
}

/** Fields by their names in small letters; the first of a name counts. */
function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of text.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const [, name, value] = /^([!-9;-~]+)[ \t]*:(.*)$/.exec(line) ?? []
    if (name && value !== undefined && !fields.has(name.toLowerCase())) fields.set(name.toLowerCase(), value.trim())
  }
  return fields
}

/** From `rfc822; ada@example.com`. */
const addressIn = (field = ''): string[] => {
  const [, address = ''] = /^(?:rfc822|utf-8)\s*;(.*)$/i.exec(field) ?? []
  return address === '' ? [] : [address.trim().replace(/^<|>$/g, '')]
}
