import type * as contract from '@/contract/connections'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { Context, SystemContext } from '../context'
import { lockForService } from '../lock-account'
import { type Manager, managerOf, OPERATOR_COMMAND } from '../manager'
import {
  auditAs,
  boolean,
  type Described,
  literal,
  openAccount,
  type Part,
  type Placeholders,
  type Shape,
  type Sql,
  sql,
  statement,
  text,
  time,
} from '../sql'
import { unknownApp } from './manage'

const lockById = statement('lock-account-to-connect', { account: text }, { id: text, name: text }, (v) =>
  openAccount(v.account, 'NO KEY UPDATE'),
)

const CHANGE = {
  userId: text,
  appId: text,
  now: time,
  auditId: text,
  actor: text,
  actorId: text.orNull,
  ip: text.orNull,
} satisfies Shape
type Change = Described<typeof CHANGE>

const audited = (action: Part, from: Part, v: Placeholders<Change>) =>
  auditAs(action, {
    from,
    id: v.auditId,
    user: v.userId,
    actor: v.actor,
    actorId: v.actorId,
    subject: v.appId,
    ip: v.ip,
    at: v.now,
  })

// Writes nothing if the connection is as wanted. The account's lock keeps other writers of its connections away.
const connect = statement(
  'connect-app',
  { ...CHANGE, id: text, subject: text },
  { id: text },
  (v) => sql`WITH connected AS (
     SELECT id, subject FROM app_connections WHERE user_id = ${v.userId} AND app_id = ${v.appId}
   ), written AS (
     INSERT INTO app_connections (id, user_id, app_id, subject, connected_at)
     SELECT ${v.id}, ${v.userId}, a.id, ${v.subject}, ${v.now}
     FROM connected_apps a WHERE a.id = ${v.appId} AND NOT EXISTS (SELECT FROM connected WHERE subject = ${v.subject})
     ON CONFLICT (user_id, app_id) DO UPDATE SET subject = excluded.subject
     RETURNING id
   ), audited AS (
     ${audited(literal('connection.put'), sql`written`, v)}
   )
   SELECT id FROM connected UNION SELECT id FROM written`,
)

const disconnect = statement(
  'disconnect-app',
  CHANGE,
  { removed: boolean },
  (v) => sql`WITH removed AS (
     DELETE FROM app_connections WHERE user_id = ${v.userId} AND app_id = ${v.appId} RETURNING id
   ), audited AS (
     ${audited(literal('connection.removed'), sql`removed`, v)}
   )
   SELECT EXISTS (SELECT FROM removed) AS removed FROM connected_apps WHERE id = ${v.appId}`,
)

type Account = { userId: string } | { externalId: string }
type By = Manager & { ip?: string }

/** Locks the open account and changes its connections; refuses if there is no such account. */
async function change<T>(
  ctx: SystemContext,
  { appId, by, ...account }: Account & { appId: string; by: By },
  write: (sql: Sql, values: Change) => Promise<T>,
): Promise<T & { userId: string }> {
  return ctx.transaction(async (sql) => {
    const row =
      'userId' in account
        ? (await sql(lockById, { account: account.userId }))[0]
        : await lockForService(sql, { externalId: account.externalId })
    if (!row) throw new AppError('USER_001', 'There is no active user with this id.')
    const written = await write(sql, {
      userId: row.id,
      appId,
      now: ctx.clock.now(),
      auditId: ctx.secrets.randomId('aud_'),
      actor: by.kind,
      actorId: by.kind === 'service' ? by.id : null,
      ip: by.ip ?? null,
    })
    return { ...written, userId: row.id }
  })
}

/** Another subject replaces the one of before. Events that are already written keep theirs. */
export async function connectApp(
  ctx: SystemContext,
  { subject, by = OPERATOR_COMMAND, ...of }: Account & { appId: string; subject: string; by?: By },
): Promise<{ userId: string; connectionId: string }> {
  return change(ctx, { ...of, by }, async (sql, values) => {
    const [row] = await sql(connect, { ...values, subject, id: ctx.secrets.randomId('con_') })
    if (!row) throw unknownApp()
    return { connectionId: row.id }
  })
}

const service = (ctx: Context): By => ({ ...managerOf(ctx), ip: ctx.ip })

/** For services. */
export async function putConnection(
  ctx: Context,
  input: Input<typeof contract.putConnection>,
): Promise<Data<typeof contract.putConnection>> {
  const { userId } = await connectApp(ctx, { ...input, by: service(ctx) })
  return { user_id: userId, app_id: input.appId, subject: input.subject }
}

export async function removeConnection(
  ctx: Context,
  input: Input<typeof contract.removeConnection>,
): Promise<Data<typeof contract.removeConnection>> {
  const { userId, removed } = await change(ctx, { ...input, by: service(ctx) }, async (sql, values) => {
    const [row] = await sql(disconnect, values)
    if (!row) throw unknownApp()
    return row
  })
  return { user_id: userId, app_id: input.appId, removed }
}

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

export async function listConnections(
  { sql }: Context,
  { externalId }: Input<typeof contract.listConnections>,
): Promise<Data<typeof contract.listConnections>> {
  const [account] = await sql(findAccount, { externalId })
  if (!account) throw new AppError('USER_001')
  const rows = await sql(readConnections, { userId: account.id })
  const connections = rows.map((row) => ({ ...row, connected_at: row.connected_at.toISOString() }))
  return { user_id: account.id, connections }
}
