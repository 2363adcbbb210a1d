import type { Scope } from '@/contract/define'
import type { Actor, SystemContext } from '../context'
import { statement } from '../sql'
import { isStatusTokenOf } from '../withdrawal/status-token'
import { hashOfCredential, readCredential } from './authenticate'

interface WithdrawalRow {
  id: string
  user_id: string | null
  /** Not purged yet. */
  readable: boolean
}

interface EndedRow {
  withdrawal_id: string
  user_id: string
  scopes: Scope[]
  made_the_call: boolean
}

const byCredential = statement<{ hash: Buffer; now: Date }, EndedRow>(
  'ended-credential',
  (v) => `SELECT withdrawal_id, user_id, scopes, made_the_call FROM ended_credentials
   WHERE credential_hash = ${v.hash} AND expires_at > ${v.now}`,
)
const byUser = statement<{ userId: string }, WithdrawalRow>(
  'withdrawal-of-user',
  (v) => `SELECT id, user_id, purged_at IS NULL AS readable FROM withdrawals WHERE user_id = ${v.userId}`,
)
const byId = statement<{ withdrawalId: string }, WithdrawalRow>(
  'withdrawal-for-status-token',
  (v) => `SELECT id, user_id, purged_at IS NULL AS readable FROM withdrawals WHERE id = ${v.withdrawalId}`,
)

/** Asked where `findCaller` knows nothing: what a withdrawal left of this credential, for this path. */
export async function authenticateWithdrawn(
  ctx: SystemContext,
  token: string,
  path: { userId?: string; withdrawalId?: string },
  purpose: 'refused' | 'reads',
): Promise<Actor | null> {
  const { userId = '', withdrawalId = '' } = path
  if (purpose === 'reads' && isStatusTokenOf(ctx, token, withdrawalId)) {
    const [withdrawal] = await ctx.sql(byId, { withdrawalId })
    return withdrawal?.readable && withdrawal.user_id === userId
      ? toActor('status_token', userId, { id: withdrawalId, madeTheCall: false }, ['account:manage'])
      : null
  }
  const credential = await readCredential(ctx, token)
  if (!credential) return null
  const { kind, scopes } = credential
  const [row] = await ctx.sql(byCredential, { hash: hashOfCredential(credential), now: ctx.clock.now() })
  if (!row && purpose === 'refused' && kind === 'outside_token') {
    // The others of an outside issuer were never seen, and ended all the same.
    const mayAsk = credential.key === userId && scopes?.includes('account:manage')
    const [withdrawal] = mayAsk ? await ctx.sql(byUser, { userId }) : []
    return withdrawal?.readable
      ? toActor(kind, userId, { id: withdrawal.id, madeTheCall: false }, ['account:manage'])
      : null
  }
  if (row?.user_id !== userId || !row.scopes.includes('account:manage')) return null
  if (purpose === 'reads' && !(row.made_the_call && row.withdrawal_id === withdrawalId)) return null
  const withdrawal = { id: row.withdrawal_id, madeTheCall: row.made_the_call }
  return toActor('access_token', userId, withdrawal, row.scopes)
}

const toActor = (
  kind: Actor['kind'],
  userId: string,
  withdrawal: Actor['withdrawal'],
  scopes: readonly Scope[],
): Actor => ({
  kind,
  id: '',
  userId,
  scopes,
  user: { name: '', email: '', emailVerifiedAt: null },
  pendingChange: null,
  withdrawal,
})
