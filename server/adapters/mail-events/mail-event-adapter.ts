import { createHash, timingSafeEqual } from 'node:crypto'
import type * as z from 'zod'
import { AppError } from '@/contract/errors'
import { MAX_SIGNED_AGE_MS } from '@/domain/limits/durations'
import type { MailEvent, MailEventSource } from '@/domain/ports'

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

/** The message of an event that tells the id in metadata, under the name that we gave it. */
export const MESSAGE_KEY = 'delivery'
export const messageById = (id: unknown): MailEvent['message'] | null =>
  typeof id === 'string' && /^(?:ecr|ntc)_[\w-]{22,60}$/.test(id) ? { id } : null

/** The message of an event that tells the Message-ID; null for a message of another sender. */
export function messageByHeader(messageId: unknown, host: string): MailEvent['message'] | null {
  const text = typeof messageId === 'string' ? messageId.trim().toLowerCase() : ''
  const [, deliveryId, sentBy] = /^<?([0-9a-f]{40})@([^@<>\s]+?)>?$/.exec(text) ?? []
  return deliveryId !== undefined && sentBy === host ? { deliveryId } : null
}

/** The event, if its source says which message of ours it is about, and a state that matters. */
export const toEvents = (
  message: MailEvent['message'] | null,
  state: MailEvent['state'] | undefined,
  about: Pick<MailEvent, 'addresses' | 'at'>,
): MailEvent[] => (message && state ? [{ message, state, ...about }] : [])

/** Compares hashes, so that the time does not tell how much is right. */
export const isSame = (one: string, other: string): boolean => timingSafeEqual(sha256(one), sha256(other))
const sha256 = (text: string) => createHash('sha256').update(text).digest()

/** Refuses a call that is not signed by the source, without a reason. */
export function requireGenuine(isGenuine: boolean): asserts isGenuine {
  if (!isGenuine) throw new AppError('AUTH_001', 'The call is not signed by the source.')
}

export const isFresh = (signedAt: Date, now: Date): boolean =>
  Math.abs(now.getTime() - signedAt.getTime()) <= MAX_SIGNED_AGE_MS

/** Null for a text that is no time. */
export function timeOf(text: unknown): Date | null {
  const at = new Date(typeof text === 'string' ? text : Number.NaN)
  return Number.isNaN(at.getTime()) ? null : at
}
