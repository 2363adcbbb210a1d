import { parseAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { requestPasswordReset as contract } from '@/contract/password'
import type { LinkContext, SystemContext } from '../context'
import {
  type PlaceRow,
  pseudonymousBucket,
  type TakeValues,
  takePlaces,
  takePlacesOf,
  takeValues,
  userBucket,
} from '../limits/buckets'
import { NOTICE_LEASE_MS, PASSWORD_RESET_MS } from '../limits/durations'
import { type After, eachDue, isAfter } from '../queue/each-due'
import { queueNotice, type ResetRequest } from '../queue/notice-kinds'
import { leaseUntil, sendFirst } from '../queue/notices'
import { audit, statement } from '../sql'
import { networkOf } from './sign-in'

interface Insert {
  id: string
  sealed: Buffer
  now: Date
  dueAt: Date
}

const insertRequest = statement<Insert>(
  'request-password-reset',
  (v) =>
    `INSERT INTO password_reset_requests (id, sealed, requested_at, due_at) VALUES (${v.id}, ${v.sealed}, ${v.now}, ${v.dueAt})`,
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

interface FoundAccount {
  id: string
  name: string
  email: string
  locale: string | null
  has_password: boolean
  credential_version: number
}

const findAccount = statement<{ emailKey: string }, FoundAccount>(
  'account-to-reset',
  (v) => `SELECT id, name, email, locale, password_hash IS NOT NULL AS has_password, credential_version FROM users
   WHERE email_key = ${v.emailKey} AND withdrawn_at IS NULL`,
)

const dropRequest = statement<{ id: string }>(
  'drop-password-reset-request',
  (v) => `DELETE FROM password_reset_requests WHERE id = ${v.id}`,
)

interface Queue extends TakeValues {
  id: string
  userId: string
  noticeId: string
  locale: string | null
  sealed: Buffer
  endsAt: Date
  leaseUntil: Date
  auditId: string
  ip: string
}

// Only the call that deletes the row queues the message, so one request never brings two. Lock order: request, bucket, account.
const queueReset = statement<Queue, PlaceRow & { queued: boolean }>(
  'queue-password-reset',
  (v) => `WITH request AS (
     DELETE FROM password_reset_requests WHERE id = ${v.id} RETURNING id
   ), places AS (
     ${takePlacesOf(v, `request, unnest(${v.takeKeys}::text[], ${v.takeUsers}::text[], ${v.takePlaces}::int[], ${v.takeWindows}::bigint[]) AS b (key, user_id, places, window_ms)`)}
   ), account AS (
     SELECT u.id FROM places JOIN users u ON u.id = ${v.userId} AND u.withdrawn_at IS NULL
     WHERE places.granted FOR SHARE OF u
   ), audited AS (
     ${audit('password_reset.requested', { from: 'account', id: v.auditId, user: 'id', actor: `'system'`, ip: v.ip, at: v.now })}
   ), notice AS (
     ${queueNotice('password_reset', {
       from: 'account',
       id: v.noticeId,
       user: 'id',
       locale: v.locale,
       sealed: v.sealed,
       at: v.now,
       leaseUntil: v.leaseUntil,
       expiresAt: v.endsAt,
     })}
   )
   SELECT places.*, EXISTS (SELECT FROM account) AS queued FROM places`,
)

interface RequestRow {
  id: string
  requested_at: Date
}

async function answerRequest(
  ctx: SystemContext,
  { id, requested_at: at }: RequestRow,
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

const dueRequests = statement<After & { now: Date }, RequestRow & { sealed: Buffer; due_at: Date }>(
  'due-password-reset-requests',
  (v) => `SELECT id, requested_at, sealed, due_at FROM password_reset_requests
   WHERE due_at <= ${v.now} AND ${isAfter(v, 'due_at')} ORDER BY due_at, id LIMIT ${v.maxRows}`,
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
