import type * as contract from '@/contract/connections'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { Context, Transaction } from '../context'
import { withIsoTimes } from '../iso-times'
import { lockAccountOfId, lockForService, NO_ACCOUNT } from '../lock-account'
import { auditOnAccount, type ManagerContext } from '../manager'
import { boolean, sql, statement, text, time } from '../sql'
import { unknownApp } from './manage'

const CONNECTION = { userId: text, appId: text }

const findConnection = statement(
  'find-connection',
  CONNECTION,
  { id: text, subject: text },
  (v) => sql`SELECT id, subject FROM app_connections WHERE user_id = ${v.userId} AND app_id = ${v.appId}`,
)
const connect = statement(
  'connect-app',
  { ...CONNECTION, id: text, subject: text, now: time },
  { id: text },
  (v) => sql`INSERT INTO app_connections (id, user_id, app_id, subject, connected_at)
   SELECT ${v.id}, ${v.userId}, a.id, ${v.subject}, ${v.now} FROM connected_apps a WHERE a.id = ${v.appId}
   ON CONFLICT (user_id, app_id) DO UPDATE SET subject = excluded.subject
   RETURNING id`,
)

// With what the application was to be told, or could be told again.
const disconnect = statement(
  'disconnect-app',
  CONNECTION,
  { removed: boolean },
  (v) => sql`WITH removed AS (
     DELETE FROM app_connections WHERE user_id = ${v.userId} AND app_id = ${v.appId} RETURNING app_id
   ), undelivered AS (
     DELETE FROM event_deliveries d USING removed, connected_apps a, events e
     WHERE a.id = removed.app_id AND a.audience <> 'everyone' AND e.user_id = ${v.userId} AND d.event_id = e.id AND d.app_id = a.id
   )
   SELECT EXISTS (SELECT FROM removed) AS removed FROM connected_apps WHERE id = ${v.appId}`,
)

type Account = { userId: string } | { externalId: string }

/** Locks the open account whose connections change; refuses if there is no such account. Returns its id. */
async function lockAccount(tx: Transaction, account: Account): Promise<string> {
  const row = await ('userId' in account ? lockAccountOfId(tx, account.userId) : lockForService(tx, account))
  if (!row) throw new AppError('USER_001', NO_ACCOUNT)
  return row.id
}

/** Another subject replaces the one of before. Events that are already written keep theirs. */
export const connectApp = (
  ctx: ManagerContext,
  { appId, subject, ...account }: Account & { appId: string; subject: string },
): Promise<{ userId: string; connectionId: string }> =>
  ctx.transaction(async (tx) => {
    const userId = await lockAccount(tx, account)
    const [found] = await tx.sql(findConnection, { userId, appId })
    if (found?.subject === subject) return { userId, connectionId: found.id }
    const id = tx.secrets.randomId('con_')
    const [written] = await tx.sql(connect, { userId, appId, id, subject, now: tx.clock.now() })
    if (!written) throw unknownApp()
    await auditOnAccount(tx, 'connection.put', { userId, subject: appId })
    return { userId, connectionId: written.id }
  })

/** For services. */
export async function putConnection(
  ctx: Context,
  { externalId, appId, subject }: Input<typeof contract.putConnection>,
): Promise<Data<typeof contract.putConnection>> {
  const { userId } = await connectApp(ctx, { externalId, appId, subject })
  return { user_id: userId, app_id: appId, subject }
}

export const removeConnection = (
  ctx: Context,
  { appId, externalId }: Input<typeof contract.removeConnection>,
): Promise<Data<typeof contract.removeConnection>> =>
  ctx.transaction(async (tx) => {
    const userId = await lockAccount(tx, { externalId })
    const [row] = await tx.sql(disconnect, { userId, appId })
    if (!row) throw unknownApp()
    if (row.removed) await auditOnAccount(tx, 'connection.removed', { userId, subject: appId })
    return { user_id: userId, app_id: appId, removed: row.removed }
  })

const findAccount = statement(
  'find-account-of-external-id',
  { externalId: text },
  { id: text },
  (v) => sql`SELECT id FROM users WHERE external_id = ${v.externalId} AND withdrawn_at IS NULL`,
)
const readConnections = statement(
  'connections-of-account',
  { userId: text },
  { app_id: text, subject: text, name: text, connected_at: time },
  (v) => sql`SELECT c.app_id, c.subject, a.name, c.connected_at
   FROM app_connections c JOIN connected_apps a ON a.id = c.app_id WHERE c.user_id = ${v.userId} ORDER BY c.connected_at, c.id`,
)

/** The applications that the account is connected to, the oldest first. */
export async function connectionsOf(
  { sql }: Pick<Context, 'sql'>,
  userId: string,
): Promise<Data<typeof contract.listConnections>['connections']> {
  const rows = await sql(readConnections, { userId })
  return rows.map(withIsoTimes)
}

export async function listConnections(
  { sql }: Context,
  { externalId }: Input<typeof contract.listConnections>,
): Promise<Data<typeof contract.listConnections>> {
  const [account] = await sql(findAccount, { externalId })
  if (!account) throw new AppError('USER_001')
  return { user_id: account.id, connections: await connectionsOf({ sql }, account.id) }
}
