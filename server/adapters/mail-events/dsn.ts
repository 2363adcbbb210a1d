import type { MailEvent } from '@/domain/ports'
import {
  isSame,
  type MailEventAdapter,
  type MailEventSettings,
  messageByHeader,
  type Outcome,
  requireGenuine,
  timeOf,
  toEvents,
} from './mail-event-adapter'

/** Delivery status notifications (RFC 3464) of one's own mail server. Other actions say nothing of the end. */
const OUTCOMES = new Map<string, Outcome>([
  ['failed', 'soft'],
  ['delayed', 'deferred'],
  ['delivered', 'delivered'],
])
const MAX_RECIPIENTS = 20
/** A report has three or four. */
const MAX_PARTS = 10

export const dsn: MailEventAdapter = {
  setting: { form: /^[\x21-\x7e]{16,}$/, must: 'must be 16 visible ASCII characters or more' },
  types: ['message/rfc822'],
  create: (settings) => ({
    async read({ headers, body }) {
      requireGenuine(isSame(headers.get('Authorization') ?? '', `Bearer ${settings.secret}`))
      return eventsOf(Buffer.from(body).toString(), settings)
    },
  }),
}

// Strangers choose what a report holds. So only its two parts that matter are read, and every step looks at each line a few times at most.

/** The return path names the message. Without one, the quoted message does. */
function eventsOf(text: string, { host, returnPath }: MailEventSettings): MailEvent[] {
  const mail = entityOf(text.split(/\r?\n/))
  const parts = partsOf(mail)
  const status = parts.find(({ type }) => /^message\/(?:global-)?delivery-status$/.test(type))
  const message = returnPath === undefined ? quotedMessage(parts, host) : messageAt(mail, returnPath)
  if (!status || !message) return []
  // Some servers write no block for the message, or one together with that of the first recipient.
  const blocks = blocksOf(contentOf(status))
  const at = timeOf(blocks.find((block) => block.has('arrival-date'))?.get('arrival-date') ?? fieldOf(mail, 'date'))
  return blocks
    .filter((block) => NAMES.some((name) => block.has(name)))
    .slice(0, MAX_RECIPIENTS)
    .flatMap((block) =>
      toEvents(message, outcomeOf(block), { to: NAMES.map((name) => recipientIn(block.get(name))), at }),
    )
}

const NAMES = ['original-recipient', 'final-recipient'] as const

/** From `rfc822; ada@example.com`. The type may also be `utf-8`, `local` or `unknown`. */
const recipientIn = (field = '') => field.replace(/^[\w-]+\s*;/, '')

/** OpenSMTPD reports a message that it gives up as delayed, with the status of an expired delivery (RFC 3463, X.4.7). */
function outcomeOf(block: Fields): Outcome | undefined {
  const [action = ''] = /^[a-z]+/.exec(block.get('action')?.toLowerCase() ?? '') ?? []
  const status = statusOf(block)
  const outcome = OUTCOMES.get(action === 'delayed' && status.startsWith('4.4.7') ? 'failed' : action)
  return outcome === 'soft' && status.startsWith('5.1.') ? 'hard' : outcome
}

/** Exim reports 5.0.0 for every failure, and repeats the status that it was told. */
function statusOf(block: Fields): string {
  const status = block.get('status') ?? ''
  const [, diagnosed] = /^smtp\s*;\s*5\d\d[ -](5\.\d+\.\d+)\b/i.exec(block.get('diagnostic-code') ?? '') ?? []
  return diagnosed !== undefined && (status === '' || status.startsWith('5.0.0')) ? diagnosed : status
}

interface Entity {
  fields: (readonly [name: string, value: string])[]
  type: string
  body: string[]
}

function entityOf(lines: string[]): Entity {
  const end = lines.indexOf('')
  const fields = fieldsOf(end < 0 ? lines : lines.slice(0, end))
  const [type = ''] = (fields.find(([name]) => name === 'content-type')?.[1] ?? 'text/plain').toLowerCase().split(';')
  return { fields, type: type.trim(), body: end < 0 ? [] : lines.slice(end + 1) }
}

const fieldOf = ({ fields }: Entity, name: string) => fields.find(([other]) => other === name)?.[1]

/** The parts of a multipart message. Those within other parts are of messages that somebody else has sent. */
function partsOf(mail: Entity): Entity[] {
  const [, quoted, plain] =
    /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(fieldOf(mail, 'content-type') ?? '') ?? []
  const boundary = `--${quoted ?? plain}`
  if (!mail.type.startsWith('multipart/') || boundary === '--undefined') return []
  const parts: string[][] = []
  for (const line of mail.body) {
    const text = line.trimEnd()
    if (text === `${boundary}--` || parts.length > MAX_PARTS) break
    if (text === boundary) parts.push([])
    else parts.at(-1)?.push(line)
  }
  return parts.map(entityOf)
}

function contentOf(part: Entity): string[] {
  const encoding = fieldOf(part, 'content-transfer-encoding')?.toLowerCase()
  const text = part.body.join('\n')
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString().split(/\r?\n/)
  if (encoding !== 'quoted-printable') return part.body
  const bytes = text
    .replaceAll('=\n', '')
    .replaceAll(/=([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString().split(/\r?\n/)
}

function quotedMessage(parts: Entity[], host: string) {
  const part = parts.find(({ type }) =>
    /^(?:message\/(?:rfc822|global|global-headers)|text\/rfc822-headers)$/.test(type),
  )
  return part ? messageByHeader(blocksOf(contentOf(part))[0]?.get('message-id'), host) : null
}

// This begins where a word does, so that it looks at a character a few times at most.
const TAGGED = /(?<![^\s<>@+",;])([^\s<>@+",;]+)\+([0-9a-f]{40})@([^\s<>@",;]+)/g

/** The address that the report was sent to, `bounce+<id>@…`. */
function messageAt(mail: Entity, returnPath: string): MailEvent['message'] | null {
  const [local, domain] = returnPath.toLowerCase().split('@')
  for (const [key, value] of mail.fields) {
    if (!['to', 'delivered-to', 'x-original-to', 'envelope-to'].includes(key)) continue
    for (const [, name, id, host] of value.toLowerCase().matchAll(TAGGED)) {
      if (name === local && host === domain && id !== undefined) return { deliveryId: id }
    }
  }
  return null
}

type Fields = ReadonlyMap<string, string>

/** The first blocks of fields, which blank lines separate, with one for the message; the first field of a name counts. */
function blocksOf(lines: string[]): Fields[] {
  const blocks: string[][] = [[]]
  for (const line of lines) {
    if (line.trim() !== '') blocks.at(-1)?.push(line)
    else if (blocks.at(-1)?.length && blocks.push([]) > MAX_RECIPIENTS + 1) break
  }
  return blocks.map((block) => new Map(fieldsOf(block).toReversed()))
}

/** Names are in small letters. */
function fieldsOf(lines: string[]): Entity['fields'] {
  const text = lines.join('\n').replaceAll(/\n[ \t]+/g, ' ')
  return text.split('\n').flatMap((line) => {
    const [, name, value] = /^([!-9;-~]+)[ \t]*:(.*)$/.exec(line) ?? []
    return name !== undefined && value !== undefined ? [[name.toLowerCase(), value.trim()] as const] : []
  })
}
