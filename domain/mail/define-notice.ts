import { parseAddress } from '@/contract/address'
import type { AnyContext, SystemContext } from '../context'
import type { Message } from '../ports'
import { openSealed } from '../sealed'
import { bytes, type Described, integer, text, time } from '../sql'

/** What a letter is about has ended, so that it is not tried again. */
export const ENDED = Symbol('ended')

export interface Letter {
  to: string
  message: Message
}

/** A notice that a sender has claimed. */
export const NOTICE_ROW = {
  id: text,
  user_id: text,
  kind: text,
  /** The account's locale when the notice was written. */
  locale: text.orNull,
  recipient: text.orNull,
  change_request_id: text.orNull,
  withdrawal_id: text.orNull,
  sealed: bytes.orNull,
  created_at: time,
  expires_at: time.orNull,
  attempts: integer,
}
export type NoticeRow = Described<typeof NOTICE_ROW>

interface Definition<Facts, Recipient extends string> {
  name: string
  /** What the row keeps of the facts: the id of what the letter is about, or what is encrypted. */
  keep(facts: Facts): { changeId?: string; withdrawalId?: string; sealed?: object; expiresAt?: Date }
  /** The address of each copy. The row's `recipient` is null for `sealed`. */
  recipients: Record<Recipient, (facts: Facts) => string>
  message(ctx: AnyContext, facts: Facts, recipient: Recipient): Message
  /** Adds what exists only after the commit, such as a receipt; null while it is missing. The row has to be sealed, so that it is tried again. */
  complete?(ctx: SystemContext, facts: Facts, attempts: number): Promise<Facts | null>
  /** Reads the facts for a later attempt; null if they cannot be read, ENDED if what the letter is about has ended. */
  read(ctx: SystemContext, notice: NoticeRow): Promise<Facts | null | typeof ENDED>
  /** Whose copies go out also if support has said meanwhile that their mailbox is lost. */
  reachesLost?: readonly Recipient[]
}

/** A notice whose row is there for a later attempt, whatever its facts are. */
export interface StoredNotice {
  name: string
  recipients: object
  reachesLost: readonly string[]
  /** The letter of a claimed row, the same as at the first attempt; null if it cannot be made, ENDED if nobody wants it any more. */
  readLetter(ctx: SystemContext, notice: NoticeRow): Promise<Letter | null | typeof ENDED>
}

export interface Notice<Facts, Recipient extends string>
  extends StoredNotice,
    Pick<Definition<Facts, Recipient>, 'keep'> {
  /** The letter of a try; null while it cannot be made. */
  letter(ctx: SystemContext, facts: Facts, recipient: Recipient, attempts: number): Promise<Letter | null>
}

/** One kind of notice. It stands beside the verb that sends it, and in the list of domain/notices.ts. */
export function defineNotice<Facts, Recipient extends string>({
  name,
  keep,
  recipients,
  message,
  complete,
  read,
  reachesLost = [],
}: Definition<Facts, Recipient>): Notice<Facts, Recipient> {
  const letter = async (ctx: SystemContext, facts: Facts, recipient: Recipient, attempts: number) => {
    const whole = complete ? await complete(ctx, facts, attempts) : facts
    return whole && { to: toDeliverable(recipients[recipient](whole)), message: message(ctx, whole, recipient) }
  }
  return {
    name,
    keep,
    recipients,
    reachesLost,
    letter,
    async readLetter(ctx, notice) {
      const recipient = (notice.recipient ?? 'sealed') as Recipient
      if (!Object.hasOwn(recipients, recipient)) return null
      const facts = await read(ctx, notice)
      return facts === ENDED ? ENDED : facts && letter(ctx, facts, recipient, notice.attempts)
    },
  }
}

/** For facts that are encrypted as a whole, with the address; all but the time, which is that of the row. */
export const sealedFacts = <Facts extends { to: string; at: Date }>() => ({
  keep: ({ at: _, ...sealed }: Facts) => ({ sealed }),
  recipients: { sealed: ({ to }: Facts) => to },
  read: async (ctx: SystemContext, { sealed, created_at: at }: NoticeRow): Promise<Facts | null> => {
    const opened = openSealed<Facts>(ctx, sealed)
    return opened && { ...opened, at }
  },
})

/** The form for the mail server of an address that was accepted once. */
const toDeliverable = (email: string): string => parseAddress(email)?.deliverable ?? email
