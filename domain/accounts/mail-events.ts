import { setTimeout as sleep } from 'node:timers/promises'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { receiveMailEvents as contract } from '@/contract/mail-events'
import { addEvent } from '../applications/events'
import { addAudit } from '../audit'
import type { SystemContext, Transaction } from '../context'
import { returnPlacesPart, userBucket } from '../limits/buckets'
import { EARLY_EVENT_MS, EARLY_EVENT_WAIT_MS } from '../limits/durations'
import { CALLS_FOR_HELP } from '../limits/held-addresses'
import { type LockedAccount, lockAccountOfId } from '../lock-account'
import { deliveryIds, keyOfAddress } from '../mail/mail-deliveries'
import { STILL_PENDING } from '../pending-change'
import type { MailEvent } from '../ports'
import { bytes, integer, RAISE_VERSION, type RowOf, sql, statement, text, time } from '../sql'

/** The states of a message in their order: a state only rises, so that events may come twice and in any order. */
export const MAIL_STATES = ['sent', 'deferred', 'delivered', 'complained', 'undeliverable'] as const
type State = (typeof MAIL_STATES)[number]

const findDeliveries = statement(
  'find-mail-deliveries',
  { ids: text.list },
  { id: text, user_id: text, address_mac: bytes, state: text.of<State>(), sent_at: time },
  (v) => sql`SELECT id, user_id, address_mac, state, sent_at FROM mail_deliveries WHERE id = ANY(${v.ids}::text[])`,
)
type Delivery = RowOf<typeof findDeliveries>

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

// Once for a request, because a place is found by the time at which it was taken; and once for a user within the window, which the
// bucket `mark` notes: bounces would lift the limit otherwise.
const returnPlace = statement(
  'return-place-of-request',
  { changeId: text, userId: text, keys: text.list, mark: text, windowMs: integer, now: time },
  { key: text },
  (v) => sql`WITH returned AS (${returnPlacesPart({
    keys: v.keys,
    takenAt: sql`(SELECT requested_at FROM email_change_requests WHERE id = ${v.changeId} AND status NOT IN ('verified', 'reverted')
       AND NOT EXISTS (SELECT 1 FROM rate_limits m WHERE m.key = ${v.mark} AND m.expires_at > ${v.now}::timestamptz))`,
  })})
   INSERT INTO rate_limits AS m (key, user_id, hits, places, window_ms, granted, expires_at)
   SELECT ${v.mark}, ${v.userId}, ARRAY[${v.now}::timestamptz], 1, ${v.windowMs}::bigint, true,
          ${v.now}::timestamptz + ${v.windowMs}::bigint * interval '1 millisecond'
   FROM returned
   ON CONFLICT (key) DO UPDATE SET hits = excluded.hits, window_ms = excluded.window_ms, expires_at = excluded.expires_at
   RETURNING m.key`,
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

const callsForHelp = statement(
  'change-that-calls-for-help',
  { changeId: text },
  { id: text },
  (v) => sql`SELECT r.id FROM email_change_requests r WHERE r.id = ${v.changeId} AND ${CALLS_FOR_HELP}`,
)

/** The change of a notice that would have let the old address stop or undo it, if it still could; undefined for any other. */
async function missedChange(tx: Transaction, { kind, recipient, change_request_id: changeId }: Raised) {
  const isWarning = recipient === 'old' && (kind === 'email_change_requested' || kind === 'email_changed')
  const [missed] = isWarning && changeId !== null ? await tx.sql(callsForHelp, { changeId }) : []
  return missed?.id
}

type Known = [event: MailEvent, delivery: Delivery | undefined]

/** What the events name, by one look-up for all of them. */
async function findNamed(ctx: SystemContext, events: MailEvent[]): Promise<Known[]> {
  const named = events.map((event) => ({ event, ids: idsOf(ctx, event) }))
  const deliveries = await ctx.sql(findDeliveries, { ids: [...new Set(named.flatMap(({ ids }) => ids))] })
  return named.map(({ event, ids }) => [event, deliveries.find(({ id }) => ids.includes(id))])
}

const idsOf = ({ secrets }: SystemContext, { message }: MailEvent) =>
  'id' in message ? deliveryIds(secrets, message.id) : [message.deliveryId]

async function noteEvent(ctx: SystemContext, { state, isPermanent, addresses }: MailEvent, delivery: Delivery) {
  const addressKey = addresses.map(keyOfAddress).find((key) => wasSentTo(ctx, delivery, key))
  const lower = MAIL_STATES.slice(0, MAIL_STATES.indexOf(state))
  // A soft bounce does not hide the hard one, whichever comes first.
  const from = isPermanent ? [...lower, state] : lower
  if (addressKey === undefined || !from.includes(delivery.state)) return
  await ctx.transaction(async (tx) => {
    const account = await lockAccountOfId(tx, delivery.user_id)
    const [raised] = await tx.sql(raiseState, { id: delivery.id, state, lower, now: tx.clock.now() })
    if (!account) return
    if (isPermanent && account.email_key === addressKey) await noteUndeliverable(tx, account, delivery)
    if (raised) await takeEffect(tx, account, state, raised)
  })
}

const wasSentTo = ({ secrets }: SystemContext, { address_mac: mac }: Delivery, addressKey: string) =>
  secrets.macMatches('mail-address', addressKey, mac)

/** Takes what a permanent failure says of the account's own address. */
async function noteUndeliverable(tx: Transaction, { id: userId }: LockedAccount, { sent_at: sentAt }: Delivery) {
  const at = tx.clock.now()
  if ((await tx.sql(markUndeliverable, { userId, sentAt, now: at })).length === 0) return
  await addEvent(tx, 'account.email_undeliverable', { userId, at })
  await addAudit(tx, 'email.undeliverable', { userId, actor: 'system', ip: null, at })
}

async function takeEffect(tx: Transaction, { id: userId }: LockedAccount, state: State, raised: Raised) {
  const { kind, change_request_id: changeId, sent_at: sentAt } = raised
  const isVerification = kind === 'verification' && changeId !== null
  if (isVerification && (state === 'delivered' || state === 'undeliverable')) {
    await tx.sql(noteOnRequest, { changeId, sentAt, delivery: state })
  }
  if (state !== 'undeliverable') return
  const at = tx.clock.now()
  const missed = await missedChange(tx, raised)
  if (missed) {
    await tx.sql(raiseVersion, { userId })
    const data = { change_request_id: missed }
    await addEvent(tx, 'account.security_notice_undelivered', { userId, data, at })
    await addAudit(tx, 'security_notice.undelivered', { userId, actor: 'system', ip: null, at, subject: missed })
  }
  if (isVerification) {
    const { key, windowMs } = userBucket(tx, 'change', userId)
    await tx.sql(returnPlace, { changeId, userId, keys: [key], mark: `${key}:returned`, windowMs, now: at })
  }
}

/** Takes what a mail provider, or one's own mail server, tells of messages. */
export async function receiveMailEvents(
  ctx: SystemContext,
  { source, ...call }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  const from = ctx.mailEvents[source]
  if (!from) throw new AppError('REQUEST_005')
  const now = ctx.clock.now()
  const isNew = ({ at }: MailEvent) => at !== null && Math.abs(now.getTime() - at.getTime()) < EARLY_EVENT_MS
  const events = await from.read(call, now)
  if (events.length === 0) return { accepted: true }
  // A new event can come before the row of its message.
  if (events.some(isNew)) await sleep(EARLY_EVENT_WAIT_MS)
  const named = await findNamed(ctx, events)
  for (const [event, delivery] of named) if (delivery) await noteEvent(ctx, event, delivery)
  if (named.some(([event, delivery]) => !delivery && isNew(event))) {
    throw new AppError('SERVER_002', 'The message is not known yet. Send the event again.', 30)
  }
  return { accepted: true }
}
