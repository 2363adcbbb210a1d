import { parseAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { requestPasswordReset as contract } from '@/contract/password'
import type { LinkContext, SystemContext } from '../context'
import {
  networkOf,
  PLACE_ROW,
  pseudonymousBucket,
  TAKE_VALUES,
  takePlaces,
  takePlacesOf,
  takeValues,
  userBucket,
} from '../limits/buckets'
import { NOTICE_LEASE_MS, PASSWORD_RESET_MS } from '../limits/durations'
import { queueNotice, type ResetRequest } from '../mail/notice-kinds'
import { leaseUntil, sendFirst } from '../mail/notices'
import { audit, boolean, bytes, integer, type RowOf, sql, statement, text, time } from '../sql'
import { AFTER, eachDue, isAfter } from '../work/each-due'

const insertRequest = statement(
  'request-password-reset',
  { id: text, sealed: bytes, now: time, dueAt: time },
  {},
  (v) =>
    sql`INSERT INTO password_reset_requests (id, sealed, requested_at, due_at) VALUES (${v.id}, ${v.sealed}, ${v.now}, ${v.dueAt})`,
)

/** The answer and its time are the same for every address, because the account is looked up after the answer. */
export async function requestPasswordReset(
  ctx: LinkContext,
  { email }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  requirePasswordSignIn(ctx)
  const emailKey = parseAddress(email)?.key ?? ''
  await takePlaces(ctx, {
    take: [pseudonymousBucket(ctx, 'passwordResetAddress', networkOf(ctx.ip))],
    code: 'RATE_001',
  })
  const now = ctx.clock.now()
  const request = { id: ctx.secrets.randomId('prr_'), requested_at: now }
  const asked: ResetRequest = { emailKey, ipAddress: ctx.ip }
  await ctx.sql(insertRequest, {
    id: request.id,
    sealed: ctx.secrets.seal(JSON.stringify(asked)),
    now,
    // Until then this call works it off; if the process dies, the sweep does.
    dueAt: new Date(now.getTime() + NOTICE_LEASE_MS),
  })
  ctx.background(() => answerRequest(ctx, request, asked))
  return { accepted: true }
}

/** Refuses where nobody signs in with a password. */
export function requirePasswordSignIn(ctx: SystemContext): void {
  if (!ctx.hasPasswordSignIn) throw new AppError('REQUEST_005', 'This service has no passwords.')
}

const findAccount = statement(
  'account-to-reset',
  { emailKey: text },
  { id: text, name: text, email: text, locale: text.orNull, has_password: boolean, credential_version: integer },
  (v) => sql`SELECT id, name, email, locale, password_hash IS NOT NULL AS has_password, credential_version FROM users
   WHERE email_key = ${v.emailKey} AND withdrawn_at IS NULL`,
)

const dropRequest = statement(
  'drop-password-reset-request',
  { id: text },
  {},
  (v) => sql`DELETE FROM password_reset_requests WHERE id = ${v.id}`,
)

// Only the call that deletes the row queues the message, so one request never brings two. Lock order: request, bucket, account.
const queueReset = statement(
  'queue-password-reset',
  {
    ...TAKE_VALUES,
    id: text,
    userId: text,
    noticeId: text,
    locale: text.orNull,
    sealed: bytes,
    endsAt: time,
    leaseUntil: time,
    auditId: text,
    ip: text,
  },
  { ...PLACE_ROW, queued: boolean },
  (v) => sql`WITH request AS (
     DELETE FROM password_reset_requests WHERE id = ${v.id} RETURNING id
   ), places AS (
     ${takePlacesOf(v, sql`request, unnest(${v.takeKeys}::text[], ${v.takeUsers}::text[], ${v.takePlaces}::int[], ${v.takeWindows}::bigint[]) AS b (key, user_id, places, window_ms)`)}
   ), account AS (
     SELECT u.id FROM places JOIN users u ON u.id = ${v.userId} AND u.withdrawn_at IS NULL
     WHERE places.granted FOR SHARE OF u
   ), audited AS (
     ${audit('password_reset.requested', { from: sql`account`, id: v.auditId, user: sql`id`, actor: sql`'system'`, ip: v.ip, at: v.now })}
   ), notice AS (
     ${queueNotice('password_reset', {
       from: sql`account`,
       id: v.noticeId,
       user: sql`id`,
       locale: v.locale,
       sealed: v.sealed,
       at: v.now,
       leaseUntil: v.leaseUntil,
       expiresAt: v.endsAt,
     })}
   )
   SELECT places.*, EXISTS (SELECT FROM account) AS queued FROM places`,
)

type RequestRow = RowOf<typeof dueRequests>

async function answerRequest(
  ctx: SystemContext,
  { id, requested_at: at }: Pick<RequestRow, 'id' | 'requested_at'>,
  asked: ResetRequest,
): Promise<void> {
  const [account] = await ctx.sql(findAccount, { emailKey: asked.emailKey })
  const endsAt = new Date(at.getTime() + PASSWORD_RESET_MS)
  const now = ctx.clock.now()
  if (!account || endsAt <= now) {
    await ctx.sql(dropRequest, { id })
    return
  }
  const noticeId = ctx.secrets.randomId('ntc_')
  const { id: userId, locale } = account
  const { emailKey, ipAddress } = asked
  const [row] = await ctx.sql(queueReset, {
    ...takeValues({ take: [userBucket(ctx, 'passwordReset', userId)], code: 'RATE_001' }, now),
    id,
    userId,
    noticeId,
    locale,
    sealed: ctx.secrets.seal(JSON.stringify(asked)),
    endsAt,
    leaseUntil: leaseUntil(now),
    auditId: ctx.secrets.randomId('aud_'),
    ip: ipAddress,
  })
  if (!row?.queued) return
  const { name: userName, email, has_password: hasPassword, credential_version: credentialVersion } = account
  const notice = { id: noticeId, userId, locale, kind: 'password_reset', recipient: 'sealed' } as const
  const link = { noticeId, userId, emailKey, credentialVersion, endsAt }
  sendFirst(ctx, notice, { ...link, userName, email, hasPassword, ipAddress })
}

const dueRequests = statement(
  'due-password-reset-requests',
  { ...AFTER, now: time },
  { id: text, requested_at: time, sealed: bytes, due_at: time },
  (v) => sql`SELECT id, requested_at, sealed, due_at FROM password_reset_requests
   WHERE due_at <= ${v.now} AND ${isAfter(v, sql`due_at`)} ORDER BY due_at, id LIMIT ${v.maxRows}`,
)

/** Answers the requests that a process left when it died. */
export const answerDueResetRequests = (ctx: SystemContext, maxRows = 100): Promise<void> =>
  eachDue(
    { rows: 'password resets', maxRows },
    (after) => ctx.sql(dueRequests, { ...after, now: ctx.clock.now() }),
    async (row) => {
      const opened = ctx.secrets.open(row.sealed)
      if (opened) await answerRequest(ctx, row, JSON.parse(opened.toString()) as ResetRequest)
      else await ctx.sql(dropRequest, { id: row.id })
    },
  )
