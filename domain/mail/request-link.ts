import { parseAddress } from '@/contract/address'
import { AppError } from '@/contract/errors'
import { addAudit } from '../audit'
import type { LinkContext, SystemContext, Transaction } from '../context'
import { networkOf, pseudonymousBucket, takePlaces, takePlacesInside, userBucket } from '../limits/buckets'
import { NOTICE_LEASE_MS } from '../limits/durations'
import { HAS_REPLACED_VERIFIED, heldSince } from '../limits/held-addresses'
import { requireAccountOfId, unknownUser } from '../lock-account'
import { openSealed, seal } from '../sealed'
import { bytes, openAccount, type RowOf, sql, statement, text, time } from '../sql'
import { AFTER, eachDue, isAfter, leaseEnd } from '../work/queue'
import { type LinkNotice, linkFactsOf } from './link-notice'
import { findLinkedAccount } from './linked-account'
import { LINKS, type LinkKind } from './links'
import { addNotice } from './notice-queue'

/** The encrypted content of the row of a request. */
interface LinkRequest {
  /** Rows of the last release have none: they are of a password reset. */
  kind?: LinkKind
  emailKey: string
  ipAddress: string
  /** Missing in a row of the last release. */
  userAgent?: string
}

// The table has the name of its first purpose.
const insertRequest = statement(
  'request-link',
  { id: text, sealed: bytes, now: time, dueAt: time },
  {},
  (v) =>
    sql`INSERT INTO link_requests (id, sealed, requested_at, due_at) VALUES (${v.id}, ${v.sealed}, ${v.now}, ${v.dueAt})`,
)

/**
 * Mails a link to the account with this address, if there is one. The answer and its time are the same for every address, because the
 * account is looked up after the answer.
 */
export async function requestLink(ctx: LinkContext, notice: LinkNotice, email: string): Promise<{ accepted: true }> {
  const { name: kind } = notice
  const emailKey = parseAddress(email)?.key ?? ''
  await takePlaces(ctx, {
    take: [pseudonymousBucket(ctx, LINKS[kind].perClient, networkOf(ctx.ip))],
  })
  const now = ctx.clock.now()
  const request = { id: ctx.secrets.randomId('prr_'), requested_at: now }
  const facts: LinkRequest = { kind, emailKey, ipAddress: ctx.ip, userAgent: ctx.userAgent }
  await ctx.sql(insertRequest, {
    id: request.id,
    sealed: seal(ctx, facts),
    now,
    // Until then this call works it off; if the process dies, the sweep does.
    dueAt: leaseEnd(now, NOTICE_LEASE_MS),
  })
  ctx.background(() => answerRequest(ctx, notice, request, facts))
  return { accepted: true }
}

const accountByAddress = statement(
  'account-to-mail',
  { emailKey: text },
  { id: text },
  (v) => sql`SELECT id FROM users WHERE email_key = ${v.emailKey} AND withdrawn_at IS NULL`,
)

// An address that another account has is held by none, but for one that it took before the undo window was set. The status also stands
// alone, for the index of held addresses.
const accountByReplacedAddress = statement(
  'account-to-mail-at-replaced-address',
  { emailKey: text, heldSince: time },
  { id: text },
  (v) => sql`SELECT id FROM (
     SELECT id, 1 AS place FROM users WHERE email_key = ${v.emailKey} AND withdrawn_at IS NULL
     UNION ALL
     SELECT u.id, 2 FROM email_change_requests r JOIN users u ON u.id = r.user_id
     WHERE r.old_email_key = ${v.emailKey} AND r.status = 'verified' AND ${HAS_REPLACED_VERIFIED} AND r.closed_at > ${v.heldSince}
       AND u.withdrawn_at IS NULL
   ) AS found ORDER BY place LIMIT 1`,
)

const findAccount = (ctx: SystemContext, kind: LinkKind, { emailKey, at }: { emailKey: string; at: Date }) =>
  LINKS[kind].isFinal
    ? ctx.sql(accountByReplacedAddress, { emailKey, heldSince: heldSince(ctx, at) })
    : ctx.sql(accountByAddress, { emailKey })

const lockAccount = statement('lock-account-for-link', { userId: text }, { id: text, name: text }, (v) =>
  openAccount(v.userId),
)

const dropRequest = statement(
  'drop-link-request',
  { id: text },
  { id: text },
  (v) => sql`DELETE FROM link_requests WHERE id = ${v.id} RETURNING id`,
)

/** Queues and sends the letters of a request, once. Whoever may not get one is told nothing. */
async function answerRequest(
  ctx: SystemContext,
  notice: LinkNotice,
  { id, requested_at: at }: Pick<RowOf<typeof dueRequests>, 'id' | 'requested_at'>,
  { emailKey, ipAddress, userAgent = '' }: LinkRequest,
): Promise<void> {
  const { name: kind } = notice
  const endsAt = new Date(at.getTime() + LINKS[kind].lifetimeMs)
  const origin = { ipAddress, userAgent, at: ctx.clock.now() }
  const [found] = endsAt > origin.at ? await findAccount(ctx, kind, { emailKey, at: origin.at }) : []
  if (!found) {
    await ctx.sql(dropRequest, { id })
    return
  }
  const { id: userId } = found
  await ctx.transaction(async (tx) => {
    const [locked, dropped] = await Promise.all([
      // The statements after it see the account as it stays until the commit.
      tx.sql(lockAccount, { userId }),
      // Only the call that deletes the row queues letters, so one request never brings two.
      tx.sql(dropRequest, { id }),
    ])
    if (locked.length === 0 || dropped.length === 0) return
    const account = await findLinkedAccount(tx, userId)
    if (!account || !(await takesPlace(tx, kind, { userId, ipAddress }))) return
    const { locale } = account
    const noticeId = tx.secrets.randomId('ntc_')
    const facts = linkFactsOf(tx, kind, account, { noticeId, endsAt, ipAddress, userAgent })
    await Promise.all([
      addNotice(tx, notice, { id: noticeId, userId, locale, recipients: ['sealed'], at: origin.at }, facts),
      notice.notifyOthers?.(tx, account, origin),
      addAudit(tx, LINKS[kind].requested, { userId, actor: 'system', ip: ipAddress, at: origin.at }),
    ])
  })
}

/**
 * False if the account, or this client for this account, has had its letters of this time. Nobody learns it, because that would reveal
 * whose address it is.
 */
const takesPlace = (
  tx: Transaction,
  kind: LinkKind,
  { userId, ipAddress }: { userId: string; ipAddress: string },
): Promise<boolean> => {
  const { perAccount, perAccountDay, perPair } = LINKS[kind]
  const take = [
    userBucket(tx, perAccount, userId),
    userBucket(tx, perAccountDay, userId),
    pseudonymousBucket(tx, perPair, `${userId}\n${networkOf(ipAddress)}`),
  ]
  return takePlacesInside(tx, { take }).then(
    () => true,
    (error) => {
      if (error instanceof AppError) return false
      throw error
    },
  )
}

/** The operator has the link mailed to the account. No limit counts it, and the letter names no client. */
export const mailLink = (ctx: SystemContext, notice: LinkNotice, userId: string): Promise<string> =>
  ctx.transaction(async (tx) => {
    const { locale, email } = await requireAccountOfId(tx, userId)
    const { name: kind } = notice
    const at = tx.clock.now()
    const endsAt = new Date(at.getTime() + LINKS[kind].lifetimeMs)
    const account = await findLinkedAccount(tx, userId)
    if (!account) throw unknownUser()
    const noticeId = tx.secrets.randomId('ntc_')
    const facts = linkFactsOf(tx, kind, account, { noticeId, endsAt, ipAddress: '', userAgent: '' })
    await Promise.all([
      addNotice(tx, notice, { id: noticeId, userId, locale, recipients: ['sealed'], at }, facts),
      addAudit(tx, LINKS[kind].requested, { userId, actor: 'operator', ip: null, at }),
    ])
    return email
  })

const dueRequests = statement(
  'due-link-requests',
  { ...AFTER, now: time },
  { id: text, requested_at: time, sealed: bytes, due_at: time },
  (v) => sql`SELECT id, requested_at, sealed, due_at FROM link_requests
   WHERE due_at <= ${v.now} AND ${isAfter(v, sql`due_at`)} ORDER BY due_at, id LIMIT ${v.maxRows}`,
)

/** Answers the requests that a process left when it died. */
export const answerDueLinkRequests = (
  ctx: SystemContext,
  notices: Readonly<Record<LinkKind, LinkNotice>>,
  maxRows = 100,
): Promise<void> =>
  eachDue(
    { rows: 'requests for a link', maxRows },
    (after) => ctx.sql(dueRequests, { ...after, now: ctx.clock.now() }),
    async (row) => {
      const opened = openSealed<LinkRequest>(ctx, row.sealed)
      if (opened) await answerRequest(ctx, notices[opened.kind ?? 'password_reset'], row, opened)
      else await ctx.sql(dropRequest, { id: row.id })
    },
  )
