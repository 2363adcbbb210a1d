import {
  type endBlocker as endContract,
  linkOf,
  type putBlocker as putContract,
  type removeBlocker as removeContract,
} from '@/contract/blockers'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { Context, Transaction } from '../context'
import { lockForService, requireAccountOfId } from '../lock-account'
import { auditOnAccount, type ManagerContext } from '../manager'
import { type Described, integer, sql, statement, text, time } from '../sql'

const NAMED = { userId: text, source: text, key: text }
type Named = Described<typeof NAMED>

const put = statement(
  'put-blocker',
  {
    ...NAMED,
    code: text,
    title: text,
    url: text.orNull,
    amountMinor: integer.orNull,
    currency: text.orNull,
    now: time,
    expiresAt: time.orNull,
  },
  {},
  (v) => sql`INSERT INTO withdrawal_blockers (user_id, source, key, code, title, url, amount_minor, currency,
                                    created_at, expires_at)
   VALUES (${v.userId}, ${v.source}, ${v.key}, ${v.code}, ${v.title}, ${v.url}, ${v.amountMinor}, ${v.currency}, ${v.now}, ${v.expiresAt})
   ON CONFLICT (user_id, source, key) DO UPDATE
   SET code = excluded.code, title = excluded.title, url = excluded.url, amount_minor = excluded.amount_minor,
     currency = excluded.currency, expires_at = excluded.expires_at`,
)

const remove = statement(
  'remove-blocker',
  NAMED,
  { code: text },
  (v) => sql`DELETE FROM withdrawal_blockers
   WHERE user_id = ${v.userId} AND source = ${v.source} AND key = ${v.key} RETURNING code`,
)

/** Which service, why, and its own name of it. Its title is for the person, and the audit does not keep it. */
const subjectOf = ({ source, key }: Named, code: string) => `${source}: ${code} (${key})`

const sourceOf = ({ actor }: Pick<Context, 'actor'>) => actor.service?.name ?? ''

/** Locks the account, so that a withdrawal that starts meanwhile sees what `work` has done. */
const write = <T>(
  ctx: Context,
  { externalId, key }: { externalId: string; key: string },
  work: (tx: Transaction<Context>, values: Named) => Promise<T>,
): Promise<T> =>
  ctx.transaction(async (tx) => {
    const account = await lockForService(tx, { externalId })
    if (!account) throw new AppError('USER_001')
    return work(tx, { userId: account.id, key, source: sourceOf(tx) })
  })

/** For services. Replaces a blocker with the same key from the same source. */
export async function putBlocker(ctx: Context, input: Input<typeof putContract>): Promise<Data<typeof putContract>> {
  const { code, title, key, amount } = input
  const { service } = ctx.actor
  const rules = { hosts: service?.hosts ?? [], allowsHttp: false }
  const url = input.url == null ? null : linkOf(input.url, rules)
  if (input.url != null && url === null) {
    throw new AppError('REQUEST_001', 'url must begin with https:// and have a host of this service token.')
  }
  const expiresAt = input.expires_at == null ? null : new Date(input.expires_at)
  const userId = await write(ctx, input, async (tx, values) => {
    await Promise.all([
      tx.sql(put, {
        ...values,
        ...{ code, title, url, expiresAt },
        amountMinor: amount?.minor_units ?? null,
        currency: amount?.currency ?? null,
        now: tx.clock.now(),
      }),
      auditOnAccount(tx, 'withdrawal.blocker_put', { userId: values.userId, subject: subjectOf(values, code) }),
    ])
    return values.userId
  })
  const expires_at = expiresAt?.toISOString() ?? null
  return { user_id: userId, key, code, title, url, ...(amount && { amount }), expires_at, source: sourceOf(ctx) }
}

export const removeBlocker = (
  ctx: Context,
  input: Input<typeof removeContract>,
): Promise<Data<typeof removeContract>> =>
  write(ctx, input, async (tx, values) => ({
    user_id: values.userId,
    key: input.key,
    removed: await removeOne(tx, values),
  }))

/** For operators, of any service. The command ends one of an account with a role too. */
export const endBlocker = (
  ctx: ManagerContext,
  { user_id: userId, source, key }: Input<typeof endContract>,
): Promise<Data<typeof endContract>> =>
  ctx.transaction(async (tx) => {
    const account = await (tx.actor ? lockForService(tx, { userId }) : requireAccountOfId(tx, userId))
    if (!account) throw new AppError('USER_001')
    return { user_id: userId, source, key, removed: await removeOne(tx, { userId, source, key }) }
  })

/** Says whether there was one. */
async function removeOne(tx: Transaction<ManagerContext>, named: Named): Promise<boolean> {
  const [removed] = await tx.sql(remove, named)
  if (!removed) return false
  const subject = subjectOf(named, removed.code)
  await auditOnAccount(tx, 'withdrawal.blocker_removed', { userId: named.userId, subject })
  return true
}
