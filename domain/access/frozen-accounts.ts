import { AppError } from '@/contract/errors'
import type { SystemContext } from '../context'
import { audit, RAISE_VERSION, statement } from '../sql'

interface FrozenAccount {
  userId: string
  frozenAt: Date
}

const MAX_SHOWN = 100

const frozenAccounts = statement<{ maxRows: number }, { id: string; frozen_at: Date }>(
  'frozen-accounts',
  (v) => `SELECT id, frozen_at FROM users WHERE frozen_at IS NOT NULL AND withdrawn_at IS NULL
   ORDER BY frozen_at LIMIT ${v.maxRows}`,
)

/** For the operator, longest frozen first: ids and times, no personal data. */
export async function listFrozenAccounts(ctx: SystemContext): Promise<FrozenAccount[]> {
  const rows = await ctx.sql(frozenAccounts, { maxRows: MAX_SHOWN })
  return rows.map(({ id, frozen_at }) => ({ userId: id, frozenAt: frozen_at }))
}

const unfreeze = statement<{ userId: string; now: Date; auditId: string }, { id: string }>(
  'unfreeze-account',
  (v) => `WITH account AS (
     UPDATE users SET frozen_at = NULL, ${RAISE_VERSION}
     WHERE id = ${v.userId} AND frozen_at IS NOT NULL AND withdrawn_at IS NULL RETURNING id
   )
   ${audit('account.unfrozen', { from: 'account', id: v.auditId, user: 'id', actor: `'operator'`, at: v.now })}
   RETURNING id`,
)

/** The operator has checked who owns the account, because anybody with its address and password can then sign in again. */
export async function unfreezeUser(ctx: SystemContext, { userId }: { userId: string }): Promise<void> {
  const rows = await ctx.sql(unfreeze, { userId, now: ctx.clock.now(), auditId: ctx.secrets.randomId('aud_') })
  if (rows.length === 0) throw new AppError('REQUEST_001', 'There is no frozen account with this id.')
}
