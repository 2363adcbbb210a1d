import type { Scope } from '@/contract/define'
import { usersWithdrawnAs } from '../accounts/ended-external-ids'
import { type Actor, type Credential, NO_ACCOUNT, type SystemContext } from '../context'
import { hashOfCredential, readCredential } from '../sessions/authenticate'
import { CREDENTIAL_STATE, isOutdated } from '../sessions/rowless-token'
import { boolean, bytes, sql, statement, text, time } from '../sql'
import { isStatusTokenOf } from './status-token'

const WITHDRAWAL_ROW = {
  id: text,
  user_id: text.orNull,
  /** Not purged yet. */
  is_readable: boolean,
}

const byCredential = statement(
  'ended-credential',
  { hash: bytes, now: time },
  { withdrawal_id: text, user_id: text, scopes: text.of<Scope>().list, made_the_call: boolean },
  (v) => sql`SELECT withdrawal_id, user_id, scopes, made_the_call FROM ended_credentials
   WHERE credential_hash = ${v.hash} AND expires_at > ${v.now}`,
)
const liveServiceToken = statement(
  'live-service-token',
  { id: text, now: time },
  { id: text },
  (v) => sql`SELECT id FROM service_tokens WHERE id = ${v.id} AND revoked_at IS NULL AND expires_at > ${v.now}`,
)
// Where an account has the external id again, a token that was issued since the withdrawal was of that account.
const byRowlessToken = statement(
  'withdrawal-of-rowless-token',
  {
    userId: text,
    /** The token's subject; null if that is the user's id. */
    externalId: text.orNull,
    issuedAt: time.orNull,
  },
  WITHDRAWAL_ROW,
  (v) => sql`SELECT id, user_id, purged_at IS NULL AS is_readable FROM withdrawals
   WHERE user_id = ${v.userId} AND (coalesce(started_at >= ${v.issuedAt}::timestamptz, true)
     OR NOT EXISTS (SELECT FROM users WHERE external_id = ${v.externalId} AND withdrawn_at IS NULL))`,
)
const credentialState = statement(
  'credential-state',
  { userId: text },
  CREDENTIAL_STATE,
  (v) => sql`SELECT created_at, credentials_since, credential_version FROM users WHERE id = ${v.userId}`,
)
const byId = statement(
  'withdrawal-for-status-token',
  { withdrawalId: text },
  WITHDRAWAL_ROW,
  (v) => sql`SELECT id, user_id, purged_at IS NULL AS is_readable FROM withdrawals WHERE id = ${v.withdrawalId}`,
)

// Receipts outlive the purge. When they are deleted too, nothing is left to read.
const withReceipts = statement(
  'withdrawal-with-receipts',
  { withdrawalId: text },
  { user_id: text.orNull },
  (v) => sql`SELECT user_id FROM withdrawals w WHERE id = ${v.withdrawalId}
     AND (purged_at IS NULL OR EXISTS (SELECT FROM withdrawal_receipts r WHERE r.withdrawal_id = w.id))`,
)

/** The user ids that a path may mean. An external id means the accounts that had it and were withdrawn. */
const usersOf = async (ctx: SystemContext, given: string): Promise<string[]> =>
  given.startsWith('~') ? usersWithdrawnAs(ctx, given.slice(1)) : [given]

/** Runs when `findCaller` finds nobody. Returns what a withdrawal lets this credential still do on this path. */
export async function authenticateWithdrawn(
  ctx: SystemContext,
  { token, origin = null }: { token: string; origin?: string | null },
  path: { userId?: string; withdrawalId?: string },
  purpose: 'refused' | 'reads' | 'receipts',
): Promise<Actor | null> {
  const { userId: given = '', withdrawalId = '' } = path
  if (purpose !== 'refused' && isStatusTokenOf(ctx, token, withdrawalId)) {
    return purpose === 'receipts'
      ? readerOfReceipts(ctx, given, withdrawalId)
      : readerOfStatus(ctx, given, withdrawalId)
  }
  if (purpose === 'receipts') return null
  const credential = await readCredential(ctx, token, origin)
  if (!credential || (credential.kind === 'page_token' && purpose === 'reads')) return null
  const { issuedBy } = credential.rowless ?? {}
  if (issuedBy && (await ctx.sql(liveServiceToken, { id: issuedBy, now: ctx.clock.now() })).length === 0) return null
  const [row] = await ctx.sql(byCredential, { hash: hashOfCredential(credential), now: ctx.clock.now() })
  if (!row) return purpose === 'refused' ? ownerOfRowless(ctx, given, credential) : null
  if (!row.scopes.includes('account:manage') || !(await usersOf(ctx, given)).includes(row.user_id)) return null
  if (purpose === 'reads' && !(row.made_the_call && row.withdrawal_id === withdrawalId)) return null
  const withdrawal = { id: row.withdrawal_id, madeTheCall: row.made_the_call }
  return toActor('access_token', row.user_id, given, withdrawal, row.scopes)
}

async function readerOfReceipts(ctx: SystemContext, given: string, withdrawalId: string): Promise<Actor | null> {
  const [withdrawal] = await ctx.sql(withReceipts, { withdrawalId })
  return withdrawal ? toReader('status_token', withdrawal.user_id ?? '', given, withdrawalId) : null
}

async function readerOfStatus(ctx: SystemContext, given: string, withdrawalId: string): Promise<Actor | null> {
  const [withdrawal] = await ctx.sql(byId, { withdrawalId })
  const userId = withdrawal?.is_readable ? withdrawal.user_id : null
  if (!userId || !(await usersOf(ctx, given)).includes(userId)) return null
  return toReader('status_token', userId, given, withdrawalId)
}

/** Only the call of the withdrawal stores the hash of a token without a row, but the withdrawal ended all of them. */
async function ownerOfRowless(ctx: SystemContext, given: string, credential: Credential): Promise<Actor | null> {
  const { kind, scopes, rowless } = credential
  if (!rowless || !scopes?.includes('account:manage')) return null
  const userId = await withdrawnSubject(ctx, credential, given)
  if (!userId) return null
  // A token that had ended before is not told. A page token names what the erasure deletes with the account's row.
  const [state] = await ctx.sql(credentialState, { userId })
  if (state ? isOutdated(state, rowless) : rowless.issuedFor) return null
  const externalId = externalIdOf(ctx, credential)
  const [withdrawal] = await ctx.sql(byRowlessToken, { userId, externalId, issuedAt: rowless.issuedAt })
  return withdrawal?.is_readable ? toReader(kind, userId, given, withdrawal.id) : null
}

const externalIdOf = ({ outsideIssuer }: SystemContext, { kind, key }: Credential): string | null =>
  kind === 'outside_token' && outsideIssuer?.subjectIs === 'external_id' ? String(key) : null

/** The user of this path, if the token's subject is the same user. */
async function withdrawnSubject(ctx: SystemContext, credential: Credential, given: string): Promise<string | null> {
  const externalId = externalIdOf(ctx, credential)
  const subjects = externalId === null ? [String(credential.key)] : await usersWithdrawnAs(ctx, externalId)
  return (await usersOf(ctx, given)).find((userId) => subjects.includes(userId)) ?? null
}

const toActor = (
  kind: Actor['kind'],
  userId: string,
  given: string,
  withdrawal: Actor['withdrawal'],
  scopes: readonly Scope[],
): Actor => ({
  ...NO_ACCOUNT,
  kind,
  id: '',
  userId,
  // The external id by which the path has just named the user.
  externalId: given.startsWith('~') ? given.slice(1) : null,
  scopes,
  withdrawal,
})

const toReader = (kind: Actor['kind'], userId: string, given: string, withdrawalId: string): Actor =>
  toActor(kind, userId, given, { id: withdrawalId, madeTheCall: false }, ['account:manage'])
