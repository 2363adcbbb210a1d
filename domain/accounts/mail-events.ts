import { setTimeout as sleep } from 'node:timers/promises'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { receiveMailEvents as contract } from '@/contract/mail-events'
import { addEvent } from '../applications/events'
import { addAudit } from '../audit'
import type { SystemContext, Transaction } from '../context'
import { returnPlacesPart, userBucket } from '../limits/buckets'
import { EARLY_EVENT_MS, EARLY_EVENT_WAITS_MS } from '../limits/durations'
import { type LockedAccount, lockAccountOfId } from '../lock-account'
import { deliveryIds, keyOfAddress } from '../mail/mail-deliveries'
import { STILL_PENDING } from '../pending-change'
import type { MailEvent } from '../ports'
import { bytes, RAISE_VERSION, type RowOf, sql, statement, text, time } from '../sql'

/** The states of a message in their order: a state only rises, so that events may come twice and in any order. */
export const MAIL_STATES = ['sent', 'deferred', 'delivered', 'complained', 'undeliverable'] as const
type State = (typeof MAIL_STATES)[number]

const findDelivery = statement(
  'find-mail-delivery',
  { ids: text.list },
  { id: text, user_id: text, address_mac: bytes, state: text.of<State>() },
  (v) => sql`SELECT id, user_id, address_mac, state FROM mail_deliveries WHERE id = ANY(${v.ids}::text[])`,
)
type Delivery = RowOf<typeof findDelivery>

const raiseState = statement(
  'raise-mail-state',
  { id: text, state: text.of<State>(), lower: text.list, now: time },
  { kind: text, recipient: text.orNull, change_request_id: text.orNull, sent_at: time },
  (v) => sql`UPDATE mail_deliveries SET state = ${v.state}, state_at = ${v.now}
   WHERE id = ${v.id} AND state = ANY(${v.lower}::text[])
   RETURNING kind, recipient, change_request_id, sent_at`,
)
type Raised = RowOf<typeof raiseState>

// Ignores events about older messages: `sent_at` identifies the newest one.
const noteOnRequest = statement(
  'note-delivery-of-request',
  { changeId: text, sentAt: time, delivery: text },
  {},
  (v) => sql`UPDATE email_change_requests r SET delivery = ${v.delivery}
   WHERE r.id = ${v.changeId} AND r.sent_at = ${v.sentAt} AND ${STILL_PENDING}`,
)

// Once, because a place is found by the time at which it was taken.
const returnPlace = statement(
  'return-place-of-request',
  { changeId: text, keys: text.list },
  { key: text, hits: time.list },
  (v) =>
    returnPlacesPart({
      keys: v.keys,
      takenAt: sql`(SELECT requested_at FROM email_change_requests WHERE id = ${v.changeId} AND status NOT IN ('verified', 'reverted'))`,
    }),
)

// A bounce of a message that was sent before the last verification proves nothing.
const markUndeliverable = statement(
  'mark-address-undeliverable',
  { userId: text, sentAt: time, now: time },
  { id: text },
  (v) => sql`UPDATE users SET email_undeliverable_at = ${v.now}, ${RAISE_VERSION}
   WHERE id = ${v.userId} AND email_undeliverable_at IS NULL AND coalesce(email_verified_at <= ${v.sentAt}, true)
   RETURNING id`,
)

const raiseVersion = statement(
  'raise-version',
  { userId: text },
  {},
  (v) => sql`UPDATE users SET ${RAISE_VERSION} WHERE id = ${v.userId}`,
)

/** The notices that let the old address stop or undo a change. */
const isSecurityNotice = ({ kind, recipient }: Raised) =>
  recipient === 'old' && (kind === 'email_change_requested' || kind === 'email_changed')

/** False if no message of ours is known by what the event names. */
async function noteEvent(ctx: SystemContext, event: MailEvent): Promise<boolean> {
  const { message, state } = event
  const ids = 'id' in message ? deliveryIds(ctx.secrets, message.id) : [message.deliveryId]
  const [delivery] = await ctx.sql(findDelivery, { ids })
  if (!delivery) return false
  const addressKey = event.addresses.map(keyOfAddress).find((key) => wasSentTo(ctx, delivery, key))
  const lower = MAIL_STATES.slice(0, MAIL_STATES.indexOf(state))
  if (addressKey === undefined || !lower.includes(delivery.state)) return true
  await ctx.transaction(async (tx) => {
    const account = await lockAccountOfId(tx, delivery.user_id)
    const [raised] = await tx.sql(raiseState, { id: delivery.id, state, lower, now: tx.clock.now() })
    if (raised && account) await takeEffect(tx, { account, state, raised, addressKey })
  })
  return true
}

const wasSentTo = ({ secrets }: SystemContext, { address_mac: mac }: Delivery, addressKey: string) =>
  secrets.macMatches('mail-address', addressKey, mac)

interface Effect {
  account: LockedAccount
  state: State
  raised: Raised
  /** The canonical form of the address that the message was sent to. */
  addressKey: string
}

async function takeEffect(tx: Transaction, { account, state, raised, addressKey }: Effect) {
  const { kind, change_request_id: changeId, sent_at: sentAt } = raised
  const isVerification = kind === 'verification' && changeId !== null
  if (isVerification && (state === 'delivered' || state === 'undeliverable')) {
    await tx.sql(noteOnRequest, { changeId, sentAt, delivery: state })
  }
  if (state !== 'undeliverable') return
  const { id: userId, email_key: presentKey } = account
  const at = tx.clock.now()
  const by = { userId, actor: 'system', ip: null, at }
  if (presentKey === addressKey && (await tx.sql(markUndeliverable, { userId, sentAt, now: at })).length > 0) {
    await addEvent(tx, 'account.email_undeliverable', { userId, at })
    await addAudit(tx, 'email.undeliverable', by)
  }
  if (changeId !== null && isSecurityNotice(raised)) {
    await tx.sql(raiseVersion, { userId })
    const data = { change_request_id: changeId }
    await addEvent(tx, 'account.security_notice_undelivered', { userId, data, at })
    await addAudit(tx, 'security_notice.undelivered', { ...by, subject: changeId })
  }
  if (isVerification) await tx.sql(returnPlace, { changeId, keys: [userBucket(tx, 'change', userId).key] })
}

/** Takes what a mail provider, or one's own mail server, tells of messages. */
export async function receiveMailEvents(
  ctx: SystemContext,
  { source, ...call }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  const from = ctx.mailEvents[source]
  if (!from) throw new AppError('REQUEST_005')
  const now = ctx.clock.now()
  const isNew = ({ at }: MailEvent) => at === null || Math.abs(now.getTime() - at.getTime()) < EARLY_EVENT_MS
  let left = await from.read(call, now)
  // A new event can come before the row of its message, so it is looked for a few times. Then the source has to send it again.
  for (const waitMs of EARLY_EVENT_WAITS_MS) {
    if (left.length === 0) break
    await sleep(waitMs)
    const unknown: MailEvent[] = []
    for (const event of left) if (!(await noteEvent(ctx, event)) && isNew(event)) unknown.push(event)
    left = unknown
  }
  if (left.length > 0) throw new AppError('SERVER_002', 'The message is not known yet. Send the event again.', 30)
  return { accepted: true }
}
