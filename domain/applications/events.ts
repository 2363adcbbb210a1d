import type { EventType } from '@/contract/vocabulary'
import type { SystemContext, Transaction } from '../context'
import { openSealed, seal } from '../sealed'
import { boolean, bytes, integer, NULL, type Part, type RowOf, sql, statement, text, time } from '../sql'
import { eachBatch } from '../work/queue'
import { beginDueDeliveries, type PersonalData } from './deliveries'
import { isCalled } from './webhook'

/** An event of an account that stays open. */
type AccountEvent = Exclude<EventType, `account.withdraw${string}` | 'account.purged'>
/** An event of a withdrawal, except the message of the deletion step. */
type WithdrawalEvent = 'account.withdrawal_started' | 'account.withdrawal_completed' | 'account.purged'

const insertEvent = (of: Record<'type' | 'id' | 'user' | 'withdrawal' | 'data' | 'version' | 'at' | 'from', Part>) =>
  sql`INSERT INTO events (id, type, user_id, withdrawal_id, data, version, occurred_at)
   SELECT ${of.id}, ${of.type}, ${of.user}, ${of.withdrawal}, ${of.data}, ${of.version}, ${of.at}::timestamptz FROM ${of.from}`

const insertDeliveries = (of: Record<'event' | 'app' | 'subject' | 'sealed' | 'at' | 'from', Part>) =>
  sql`INSERT INTO event_deliveries (id, event_id, app_id, subject, sealed_data, status, due_at, created_at)
   SELECT 'dlv_' || substr(${of.event}, 5) || '_' || ${of.app}, ${of.event}, ${of.app}, ${of.subject}, ${of.sealed}, 'pending',
          ${of.at}::timestamptz, ${of.at}::timestamptz
   FROM ${of.from}`

/** What the application `a` calls the account by: its own id in the connection `c`, or, where it is told about everyone, the adopter's. */
export const subjectOf = (account: Part) =>
  sql`CASE a.audience WHEN 'everyone' THEN coalesce(${account}.external_id, ${account}.id) ELSE c.subject END`

const insertAccountEvent = statement(
  'add-event',
  { type: text, userId: text, eventId: text, data: text, addresses: bytes.orNull, at: time },
  { app_id: text },
  // The connections are found by the user's id as a value: joined with the account, the planner would read all of them.
  (v) => sql`WITH receivers AS (
     SELECT a.id AS app_id, u.version, 'addresses' = ANY(a.includes) AS has_addresses, ${subjectOf(sql`u`)} AS subject
     FROM users u
     JOIN connected_apps a ON ${v.type} = ANY(a.events) AND ${isCalled(sql`a`)}
     LEFT JOIN app_connections c ON c.user_id = ${v.userId} AND c.app_id = a.id AND c.disabled_at IS NULL
     WHERE u.id = ${v.userId} AND (a.audience = 'everyone' OR c.id IS NOT NULL)
   ), written_event AS (
     ${insertEvent({
       type: v.type,
       id: v.eventId,
       user: v.userId,
       withdrawal: NULL,
       data: sql`${v.data}::jsonb`,
       version: sql`version`,
       at: v.at,
       from: sql`receivers LIMIT 1`,
     })}
   )
   ${insertDeliveries({
     event: v.eventId,
     app: sql`app_id`,
     subject: sql`subject`,
     sealed: sql`CASE WHEN has_addresses THEN ${v.addresses}::bytea END`,
     at: v.at,
     from: sql`receivers`,
   })}
   RETURNING app_id`,
)

interface NewEvent {
  userId: string
  /** Members of the message; ids only. */
  data?: Readonly<Record<string, string>>
  /** For the applications that asked for addresses. */
  addresses?: { oldEmail: string; newEmail: string }
  at: Date
}

/**
 * Writes an event, and one delivery for each application that wants it; nothing if none does. Comes after the statement that changes
 * the account and raises its version.
 */
export async function addEvent(
  tx: Transaction,
  type: AccountEvent,
  { userId, data = {}, addresses, at }: NewEvent,
): Promise<void> {
  const deliveries = await tx.sql(insertAccountEvent, {
    type,
    userId,
    eventId: tx.secrets.randomId('evt_'),
    data: JSON.stringify(data),
    addresses: addresses ? seal(tx, { old_email: addresses.oldEmail, new_email: addresses.newEmail }) : null,
    at,
  })
  if (deliveries.length > 0) tx.afterCommit((ctx) => beginDueDeliveries(ctx))
}

const WITHDRAWAL_EVENTS = {
  start: sql`ARRAY['account.withdrawal_started']`,
  end: sql`ARRAY['account.withdrawal_completed', 'account.purged']`,
}

const receivers = statement(
  'withdrawal-event-receivers',
  { userId: text },
  { app_id: text, subject: text, wants_start: boolean, wants_end: boolean },
  (v) => sql`SELECT a.id AS app_id, a.events && ${WITHDRAWAL_EVENTS.start} AS wants_start,
     a.events && ${WITHDRAWAL_EVENTS.end} AS wants_end, ${subjectOf(sql`u`)} AS subject
   FROM connected_apps a
   JOIN users u ON u.id = ${v.userId}
   LEFT JOIN app_connections c ON c.user_id = ${v.userId} AND c.app_id = a.id
   WHERE (a.audience = 'everyone' OR c.id IS NOT NULL) AND ${isCalled(sql`a`)}
     AND a.events && (${WITHDRAWAL_EVENTS.start} || ${WITHDRAWAL_EVENTS.end})`,
)

const announce = statement(
  'announce-withdrawal',
  {
    type: text.of<WithdrawalEvent>(),
    eventId: text,
    withdrawalId: text,
    version: integer,
    now: time,
    appIds: text.list,
    sealed: bytes.list,
  },
  {},
  (v) => sql`WITH receivers AS (
     SELECT a.id AS app_id, r.sealed FROM unnest(${v.appIds}::text[], ${v.sealed}::bytea[]) AS r (app_id, sealed)
     JOIN connected_apps a ON a.id = r.app_id AND ${isCalled(sql`a`)} AND ${v.type}::text = ANY(a.events)
   ), written_event AS (
     ${insertEvent({
       type: sql`${v.type}::text`,
       id: v.eventId,
       user: sql`NULL`,
       withdrawal: v.withdrawalId,
       data: sql`jsonb_build_object('withdrawal_id', ${v.withdrawalId}::text)`,
       version: sql`${v.version}::int`,
       at: v.now,
       from: sql`(SELECT FROM receivers LIMIT 1) AS anybody`,
     })}
   )
   ${insertDeliveries({ event: v.eventId, app: sql`app_id`, subject: sql`NULL`, sealed: sql`sealed`, at: v.now, from: sql`receivers` })}`,
)

/** The ids by which applications know a person, and the version of the account when it was withdrawn. */
interface Subjects {
  version: number
  subjects: [appId: string, subject: string][]
}

interface Withdrawn {
  withdrawalId: string
  userId: string
}

async function addWithdrawalEvent(
  tx: Transaction,
  type: WithdrawalEvent,
  { withdrawalId, userId: account }: Withdrawn,
  { version, subjects }: Subjects,
  now: Date,
): Promise<void> {
  if (subjects.length === 0) return
  await tx.sql(announce, {
    type,
    eventId: tx.secrets.randomId('evt_'),
    withdrawalId,
    version,
    now,
    appIds: subjects.map(([appId]) => appId),
    sealed: subjects.map(([, subject]) => seal(tx, { subject, account })),
  })
  tx.afterCommit((ctx) => beginDueDeliveries(ctx))
}

const rememberSubjects = statement(
  'remember-subjects',
  { withdrawalId: text, sealed: bytes },
  {},
  (v) => sql`UPDATE withdrawals SET sealed_subjects = ${v.sealed} WHERE id = ${v.withdrawalId}`,
)

/** Queues the event of the start in its transaction. Stores what the event of the end needs, because nothing else knows it later. */
export async function addStartEvent(
  tx: Transaction,
  { version, at, ...withdrawn }: Withdrawn & { version: number; at: Date },
): Promise<void> {
  const { withdrawalId, userId } = withdrawn
  const rows = await tx.sql(receivers, { userId })
  const subjectsOf = (wants: (row: RowOf<typeof receivers>) => boolean): Subjects['subjects'] =>
    rows.filter(wants).map(({ app_id, subject }) => [app_id, subject])
  const start = subjectsOf(({ wants_start }) => wants_start)
  const end: Subjects = { version, subjects: subjectsOf(({ wants_end }) => wants_end) }
  await Promise.all([
    addWithdrawalEvent(tx, 'account.withdrawal_started', withdrawn, { version, subjects: start }, at),
    end.subjects.length > 0 && tx.sql(rememberSubjects, { withdrawalId, sealed: seal(tx, end) }),
  ])
}

/** Each event of a withdrawal has a version of its own, which rises from the start to the purge. */
const VERSIONS_AFTER_START = { 'account.withdrawal_completed': 1, 'account.purged': 2 } as const

/** The first version of another account with the same external id: above all that the events of the withdrawn one carry. */
export const versionAfter = (withdrawn: number) => withdrawn + Math.max(...Object.values(VERSIONS_AFTER_START)) + 1

/** Runs in the transaction of the end. `sealed` is what `addStartEvent` stored. */
export async function addEndEvent(
  tx: Transaction,
  type: keyof typeof VERSIONS_AFTER_START,
  withdrawn: Withdrawn,
  sealed: Buffer | null,
): Promise<void> {
  const opened = openSealed<Subjects>(tx, sealed)
  if (!opened) return
  const { version, subjects } = opened
  const ended = { version: version + VERSIONS_AFTER_START[type], subjects }
  await addWithdrawalEvent(tx, type, withdrawn, ended, tx.clock.now())
}

const BATCH_SIZE = 500

const openDeliveries = statement(
  'open-deliveries-of-account',
  { userId: text, maxRows: integer },
  { id: text, subject: text, sealed_data: bytes.orNull },
  (v) => sql`SELECT d.id, d.subject, d.sealed_data FROM events e JOIN event_deliveries d ON d.event_id = e.id
   WHERE e.user_id = ${v.userId} AND d.status <> 'delivered' AND d.subject IS NOT NULL LIMIT ${v.maxRows}`,
)
// A delivery that was made meanwhile needs no subject.
const sealSubjects = statement(
  'seal-subjects-of-deliveries',
  { ids: text.list, sealed: bytes.list },
  {},
  (v) => sql`UPDATE event_deliveries d SET subject = NULL,
     sealed_data = CASE WHEN d.status <> 'delivered' THEN s.sealed END
   FROM unnest(${v.ids}::text[], ${v.sealed}::bytea[]) AS s (id, sealed) WHERE d.id = s.id`,
)
const keepEvents = statement(
  'keep-undelivered-events',
  { userId: text },
  {},
  (v) => sql`WITH kept AS (
     UPDATE events e SET user_id = NULL, withdrawal_id = w.id FROM withdrawals w
     WHERE e.user_id = ${v.userId} AND w.user_id = ${v.userId}
       AND EXISTS (SELECT FROM event_deliveries d WHERE d.event_id = e.id AND d.status <> 'delivered')
     RETURNING e.id
   )
   UPDATE event_deliveries d SET subject = NULL FROM kept WHERE d.event_id = kept.id AND d.status = 'delivered'`,
)

/**
 * Before an account is erased, its undelivered events move to its withdrawal, with the subject sealed. Delivered events are deleted
 * with the account.
 */
export async function keepUndeliveredEvents(ctx: SystemContext, userId: string): Promise<void> {
  await eachBatch(BATCH_SIZE, async () => {
    const rows = await ctx.sql(openDeliveries, { userId, maxRows: BATCH_SIZE })
    const sealed = rows.map(({ subject, sealed_data }) => withSubject(ctx, subject, sealed_data))
    if (rows.length > 0) await ctx.sql(sealSubjects, { ids: rows.map(({ id }) => id), sealed })
    return rows.length
  })
  await ctx.sql(keepEvents, { userId })
}

/** Addresses that no key opens stay unchanged, so that the event is not sent without them. */
function withSubject(ctx: SystemContext, subject: string, sealed: Buffer | null): Buffer {
  if (!sealed) return seal(ctx, { subject })
  const data = openSealed<PersonalData>(ctx, sealed)
  return data ? seal(ctx, { ...data, subject }) : sealed
}
