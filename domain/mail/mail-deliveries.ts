import { parseAddress } from '@/contract/address'
import type { SystemContext } from '../context'
import type { Secrets } from '../ports'
import { bytes, NOTHING, type Part, sql, statement, text, time } from '../sql'

/** A message that the mail server took. */
export interface SentMail {
  /** The id that `Mail.send` got. */
  messageId: string
  userId: string
  /** `verification`, or the kind of a notice. */
  kind: string
  /** The notice's. */
  recipient: string | null
  changeId: string | null
  to: string
  sentAt: Date
}

/** A keyed hash of so many hexadecimal digits stays whole in the local part of a return path, whose letter case a server may change. */
const ID_LENGTH = 40
const toId = (mac: Buffer) => mac.toString('hex').slice(0, ID_LENGTH)

/** The id of a message's delivery. Nobody can guess one, so that only who has seen a return path can make a bounce to it. */
export const deliveryId = ({ mac }: Pick<Secrets, 'mac'>, messageId: string): string =>
  toId(mac('mail-message', messageId))

/** As `deliveryId`, with each key that may have made it. */
export const deliveryIds = ({ macs }: Pick<Secrets, 'macs'>, messageId: string): string[] =>
  macs('mail-message', messageId).map(toId)

/** The form that is compared. A text that is no acceptable address is compared as it is. */
export const keyOfAddress = (address: string): string => parseAddress(address)?.key ?? address

const insertDeliveries = (name: string, locked: Part) =>
  statement(
    name,
    {
      ids: text.list,
      messageIds: text.list,
      userIds: text.list,
      kinds: text.list,
      recipients: text.orNull.list,
      changeIds: text.orNull.list,
      addressMacs: bytes.list,
      sentAt: time.list,
    },
    { message_id: text },
    // The lock keeps the erasure of an account from coming between the look and the row.
    (v) => sql`INSERT INTO mail_deliveries (id, message_id, user_id, kind, recipient, change_request_id, address_mac,
                                state, sent_at, state_at)
   SELECT m.id, m.message_id, u.id, m.kind, m.recipient, m.change_id, m.address_mac, 'sent', m.sent_at, m.sent_at
   FROM unnest(${v.ids}::text[], ${v.messageIds}::text[], ${v.userIds}::text[], ${v.kinds}::text[], ${v.recipients}::text[],
               ${v.changeIds}::text[], ${v.addressMacs}::bytea[], ${v.sentAt}::timestamptz[])
     AS m (id, message_id, user_id, kind, recipient, change_id, address_mac, sent_at)
   JOIN users u ON u.id = m.user_id FOR KEY SHARE OF u ${locked}
   ON CONFLICT (id) DO NOTHING RETURNING message_id`,
  )
const recordOpen = insertDeliveries('record-mails', sql`SKIP LOCKED`)
const recordWaiting = insertDeliveries('record-mail', NOTHING)

const valuesOf = ({ secrets }: SystemContext, mails: SentMail[]) => ({
  ids: mails.map(({ messageId }) => deliveryId(secrets, messageId)),
  messageIds: mails.map(({ messageId }) => messageId),
  userIds: mails.map(({ userId }) => userId),
  kinds: mails.map(({ kind }) => kind),
  recipients: mails.map(({ recipient }) => recipient),
  changeIds: mails.map(({ changeId }) => changeId),
  addressMacs: mails.map(({ to }) => secrets.mac('mail-address', keyOfAddress(to))),
  sentAt: mails.map(({ sentAt }) => sentAt),
})

/**
 * Writes the rows of messages that the mail server has taken. A row whose account is locked waits by itself, because an erasure may hold
 * the lock for longer than a statement may take.
 */
export async function recordMails(ctx: SystemContext, mails: SentMail[]): Promise<void> {
  const recorded = new Set((await ctx.sql(recordOpen, valuesOf(ctx, mails))).map(({ message_id: id }) => id))
  const left = mails.filter(({ messageId }) => !recorded.has(messageId))
  await Promise.all(left.map((mail) => ctx.sql(recordWaiting, valuesOf(ctx, [mail]))))
}
