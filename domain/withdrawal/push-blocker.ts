import { linkOf, type putBlocker as putContract, type removeBlocker as removeContract } from '@/contract/blockers'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { Context } from '../context'
import { audit, openAccountOf, statement } from '../sql'

interface Named {
  externalId: string
  source: string
  key: string
  now: Date
  auditId: string
  serviceTokenId: string
  ip: string
}

interface Push extends Named {
  code: string
  title: string
  url: string | null
  expiresAt: Date | null
}

type Values = Record<keyof Named, string>
const audited = (action: string, from: string, v: Values) =>
  audit(action, {
    from,
    id: v.auditId,
    user: 'user_id',
    actor: `'service'`,
    actorId: v.serviceTokenId,
    ip: v.ip,
    at: v.now,
  })

const put = statement<Push, { user_id: string }>(
  'put-blocker',
  (v) => `WITH account AS (${openAccountOf(v.externalId)}), pushed AS (
     INSERT INTO withdrawal_blockers (user_id, source, key, code, title, url, created_at, expires_at)
     SELECT id, ${v.source}, ${v.key}, ${v.code}, ${v.title}, ${v.url}, ${v.now}::timestamptz, ${v.expiresAt}::timestamptz FROM account
     ON CONFLICT (user_id, source, key) DO UPDATE
     SET code = excluded.code, title = excluded.title, url = excluded.url, expires_at = excluded.expires_at
     RETURNING user_id
   )
   ${audited('withdrawal.blocker_put', 'pushed', v)} RETURNING user_id`,
)

const remove = statement<Named, { user_id: string; removed: boolean }>(
  'remove-blocker',
  (v) => `WITH account AS (${openAccountOf(v.externalId)}), removed AS (
     DELETE FROM withdrawal_blockers b USING account
     WHERE b.user_id = account.id AND b.source = ${v.source} AND b.key = ${v.key} RETURNING b.user_id
   ), audited AS (
     ${audited('withdrawal.blocker_removed', 'removed', v)}
   )
   SELECT account.id AS user_id, EXISTS (SELECT FROM removed) AS removed FROM account`,
)

const named = (ctx: Context, { externalId, key }: { externalId: string; key: string }): Named => ({
  externalId,
  key,
  source: ctx.actor.service?.name ?? '',
  now: ctx.clock.now(),
  auditId: ctx.secrets.randomId('aud_'),
  serviceTokenId: ctx.actor.id,
  ip: ctx.ip,
})

/** For services. Replaces a blocker with the same key from the same source. */
export async function putBlocker(ctx: Context, input: Input<typeof putContract>): Promise<Data<typeof putContract>> {
  const { code, title, key } = input
  const url = input.url == null ? null : linkOf(input.url, ctx.actor.service?.hosts ?? [])
  if (input.url != null && url === null) {
    throw new AppError('REQUEST_001', 'url must begin with https:// and have a host of this service token.')
  }
  const expiresAt = input.expires_at == null ? null : new Date(input.expires_at)
  const values = named(ctx, input)
  const [row] = await ctx.sql(put, { ...values, code, title, url, expiresAt })
  if (!row) throw new AppError('USER_001')
  const expires_at = expiresAt?.toISOString() ?? null
  return { user_id: row.user_id, key, code, title, url, expires_at, source: values.source }
}

export async function removeBlocker(
  ctx: Context,
  input: Input<typeof removeContract>,
): Promise<Data<typeof removeContract>> {
  const [row] = await ctx.sql(remove, named(ctx, input))
  if (!row) throw new AppError('USER_001')
  return { user_id: row.user_id, key: input.key, removed: row.removed }
}
