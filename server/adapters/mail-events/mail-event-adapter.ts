import { createHash, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import { AppError } from '@/contract/errors'
import { MAX_SIGNED_AGE_MS } from '@/domain/limits/durations'
import type { MailEvent, MailEventSource } from '@/domain/ports'
import { addressesIn } from './mailbox'

export interface MailEventSettings {
  /** The value of `MAIL_EVENTS_<SOURCE>`. */
  secret: string
  /** The host of our Message-IDs. */
  host: string
  /** The address that messages come back to; undefined where that is the sender. */
  returnPath: string | undefined
  fetch: typeof fetch
}

/** One source of mail events: its setting, its header and its parser. */
export interface MailEventAdapter {
  /** The form of its setting, and the rule as the end of a sentence. */
  setting: { form: RegExp; must: string }
  /** The media types of its calls; JSON where absent. */
  types?: readonly string[]
  create(settings: MailEventSettings): MailEventSource
  /** The header by which its events name the message; absent where they tell the Message-ID. */
  header?(messageId: string): [name: string, value: string]
}

/** Parses the JSON of a body; null if it is not of this shape. */
export function parseJson<Shape extends z.ZodType>(shape: Shape, body: Uint8Array | string): z.output<Shape> | null {
  try {
    return shape.safeParse(JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString())).data ?? null
  } catch {
    return null
  }
}

/** A member that its reader takes as it comes. */
export const anything = z.unknown().optional()
/** A member whose other forms count as absent, so that they take nothing from the rest of the event. */
export const loose = <Shape extends z.ZodType>(shape: Shape) => shape.optional().catch(undefined)

/** A member of an object, or of a list of names and values. Mail programs and providers change the letter case of a name. */
export function valueIn(named: unknown, name: string): unknown {
  const members = Array.isArray(named)
    ? named.map((one) => [one?.name, one?.value])
    : Object.entries(named instanceof Object ? named : {})
  return members.find(([key]) => typeof key === 'string' && key.toLowerCase() === name)?.[1]
}

/** The message of an event that tells the id in metadata, under the name that we gave it. */
export const MESSAGE_KEY = 'delivery'
export function messageById(id: unknown): MailEvent['message'] | null {
  return typeof id === 'string' && /^(?:ecr|ntc)_[\w-]{22,60}$/.test(id) ? { id } : null
}
export const messageIn = (metadata: unknown) => messageById([valueIn(metadata, MESSAGE_KEY)].flat()[0])

/** The message of an event that tells the Message-ID; null for a message of another sender. */
export function messageByHeader(messageId: unknown, host: string): MailEvent['message'] | null {
  const text = typeof messageId === 'string' ? messageId.trim().toLowerCase() : ''
  const [, deliveryId, sentBy] = /^<?([0-9a-f]{40})@([^@<>\s]+?)>?$/.exec(text) ?? []
  return deliveryId !== undefined && sentBy === host ? { deliveryId } : null
}

/** What became of a message: `soft` and `hard` bounces will not arrive, and only a hard one says that the address takes no mail. */
export type Outcome = 'deferred' | 'delivered' | 'complained' | 'soft' | 'hard'

/** Whether the status is that of a full mailbox, which is no dead address, whatever the source calls the failure. */
export const isMailboxFull = (status: unknown): boolean => status === '5.2.2' || status === '4.2.2'

/** The event, if its source says which message of ours it is about, and an outcome that matters. */
export const toEvents = (
  message: MailEvent['message'] | null,
  outcome: Outcome | undefined,
  { to, at }: { to: readonly unknown[]; at: Date | null },
): MailEvent[] => {
  if (!message || !outcome) return []
  const isPermanent = outcome === 'hard'
  const state = isPermanent || outcome === 'soft' ? 'undeliverable' : outcome
  return [{ message, addresses: to.flatMap(addressesIn), state, isPermanent, at }]
}

/** Compares hashes, so that the time does not tell how much is right. */
export const isSame = (one: string, other: string): boolean => timingSafeEqual(sha256(one), sha256(other))
const sha256 = (text: string) => createHash('sha256').update(text).digest()

/** Refuses a call that is not signed by the source, without a reason. */
export function requireGenuine(isGenuine: boolean): asserts isGenuine {
  if (!isGenuine) throw new AppError('AUTH_001', 'The call is not signed by the source.')
}

export const isFresh = (signedAt: Date, now: Date): boolean =>
  Math.abs(now.getTime() - signedAt.getTime()) <= MAX_SIGNED_AGE_MS

/** From a text, or from the seconds since 1970. Null for what is no time. */
export function timeOf(value: unknown): Date | null {
  const at = new Date(typeof value === 'number' ? value * 1000 : typeof value === 'string' ? value : Number.NaN)
  return Number.isNaN(at.getTime()) ? null : at
}
