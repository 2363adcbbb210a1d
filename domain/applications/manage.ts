import { isDeepStrictEqual } from 'node:util'
import type * as contract from '@/contract/apps'
import type { AppSettings } from '@/contract/apps'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { isGoodPing } from '@/contract/ping'
import { EVENT_TYPES, type EventType } from '@/contract/vocabulary'
import type { AuditAction } from '../audit-actions'
import type { AnyContext, SystemContext } from '../context'
import { withIsoTimes } from '../iso-times'
import { SECRET_OVERLAP_MS } from '../limits/durations'
import { auditManager, type ManagerContext } from '../manager'
import {
  boolean,
  bytes,
  type Described,
  identifier,
  integer,
  isOneOf,
  joined,
  sql,
  statement,
  text,
  time,
} from '../sql'
import { eachBatch } from '../work/queue'
import { beginDueDeliveries } from './deliveries'
import { openTasksOf, wakeStepsOf } from './open-tasks'
import { sentenceOf, waiveTask } from './operate-tasks'
import { noteGoodAnswer, SIGNING_ROW, sendWebhook, signingOf } from './webhook'

export const unknownApp = () => new AppError('REQUEST_005', 'There is no application with this ID.')

type Shown = Data<typeof contract.getApp>

/** By the names of their columns. */
const SETTINGS = {
  name: text,
  endpoint: text.orNull,
  audience: text.of<Shown['audience']>(),
  acknowledges: text.of<Shown['acknowledges']>(),
  acknowledge_within_s: integer,
  phase: text.of<Shown['phase']>(),
  events: text.of<EventType>().list,
  includes: text.of<Shown['includes'][number]>().list,
  checks: boolean,
  confirms: boolean,
  hosts: text.list,
  categories: text.list,
  reasons: text.list,
  waive_reasons: text.list,
  disabled_at: time.orNull,
}
type Settings = Described<typeof SETTINGS>

const NAMES = Object.keys(SETTINGS) as (keyof Settings)[]
const COLUMNS = joined(NAMES.map(identifier))

const insertApp = statement(
  'register-app',
  { ...SETTINGS, id: text, sealedSecret: bytes, now: time },
  {},
  (v) => sql`INSERT INTO connected_apps (id, sealed_secret, created_at, ${COLUMNS})
   VALUES (${v.id}, ${v.sealedSecret}, ${v.now}, ${joined(NAMES.map((name) => v[name]))})`,
)
const updateApp = statement(
  'change-app',
  { ...SETTINGS, id: text },
  {},
  (v) =>
    sql`UPDATE connected_apps SET ${joined(NAMES.map((name) => sql`${identifier(name)} = ${v[name]}`))} WHERE id = ${v.id}`,
)

export const DEFAULTS: Settings = {
  name: '',
  endpoint: null,
  audience: 'connected',
  acknowledges: 'at_once',
  acknowledge_within_s: 24 * 60 * 60,
  phase: 'third_party_integrations',
  events: [],
  includes: [],
  checks: false,
  confirms: false,
  hosts: [],
  categories: [],
  reasons: [],
  waive_reasons: [],
  disabled_at: null,
}

export type AppChanges = Partial<AppSettings & { disabled: boolean }>

/** Applies the given changes; throws if the settings then contradict each other. */
function changed(ctx: AnyContext, settings: Settings, changes: AppChanges): Settings {
  const { acknowledge_within_seconds, disabled, events = settings.events, ...rest } = changes
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const wanted = {
    ...settings,
    ...given,
    acknowledge_within_s: acknowledge_within_seconds ?? settings.acknowledge_within_s,
    // In the order of the list, and each once. Every application gets `account.withdrawn`, which a deletion step sends.
    events: EVENT_TYPES.filter((type) => type === 'account.withdrawn' || events.includes(type)),
    disabled_at: (disabled ?? settings.disabled_at !== null) ? (settings.disabled_at ?? ctx.clock.now()) : null,
  }
  // One that the rules no longer allow must not keep its application from being disabled or removed; it is not called.
  const problem =
    wanted.endpoint === null ? problemOfPolling(wanted) : given.endpoint && ctx.problemOfEndpoint(wanted.endpoint)
  if (problem) throw new AppError('REQUEST_001', problem)
  return wanted
}

function problemOfPolling({ events, checks, confirms }: Settings): string | null {
  if (checks) return 'An application without an endpoint cannot be asked before a withdrawal.'
  if (confirms) return 'An application without an endpoint cannot be asked whether a person is absent.'
  if (events.length > 1) return 'An application without an endpoint is told no events.'
  return null
}

/** Only this answer shows the secret. */
export async function registerApp(
  ctx: ManagerContext,
  wanted: AppChanges & { name: string; secret?: string },
): Promise<{ appId: string; signingSecret: string }> {
  const { secret: signingSecret = newSecret(ctx), ...changes } = wanted
  const appId = ctx.secrets.randomId('app_')
  const settings = changed(ctx, DEFAULTS, changes)
  const sealedSecret = ctx.secrets.seal(signingSecret)
  await ctx.transaction((tx) =>
    Promise.all([
      tx.sql(insertApp, { ...settings, id: appId, sealedSecret, now: tx.clock.now() }),
      auditManager(tx, 'app.registered', appId),
    ]),
  )
  return { appId, signingSecret }
}

const newSecret = ({ secrets }: SystemContext) => `whsec_${secrets.randomKey().toString('base64')}`

const lockApp = statement(
  'lock-app',
  { id: text },
  SETTINGS,
  (v) => sql`SELECT ${COLUMNS} FROM connected_apps WHERE id = ${v.id} FOR UPDATE`,
)

// Nothing is sent to an application that polls, and what waits for it would wait for ever.
const deleteUndelivered = statement(
  'delete-undelivered-events-of-app',
  { appId: text },
  {},
  (v) => sql`DELETE FROM event_deliveries WHERE app_id = ${v.appId} AND status <> 'delivered'`,
)

/** As `isCalled`. */
const isCallable = ({ endpoint, disabled_at }: Settings) => endpoint !== null && disabled_at === null

/** What the audit says of one call, which may disable an application and change its settings too. */
function actsOf(before: Settings, after: Settings): AuditAction[] {
  const isDisabled = after.disabled_at !== null
  const toggled: AuditAction[] =
    isDisabled === (before.disabled_at !== null) ? [] : [isDisabled ? 'app.disabled' : 'app.enabled']
  const isSame = isDeepStrictEqual({ ...before, disabled_at: null }, { ...after, disabled_at: null })
  return isSame && toggled.length > 0 ? toggled : [...toggled, 'app.changed']
}

/** A setting that is left out does not change. */
export async function setApp(
  ctx: ManagerContext,
  { appId, ...changes }: AppChanges & { appId: string },
): Promise<Data<typeof contract.getApp>> {
  await ctx.transaction(async (tx) => {
    const [before] = await tx.sql(lockApp, { id: appId })
    if (!before) throw unknownApp()
    const settings = changed(tx, before, changes)
    await tx.sql(updateApp, { ...settings, id: appId })
    for (const action of actsOf(before, settings)) await auditManager(tx, action, appId)
    if (settings.endpoint === null && before.endpoint !== null) await tx.sql(deleteUndelivered, { appId })
    // Delivers what waited while the application was disabled or had another endpoint.
    tx.afterCommit((ctx) => beginDueDeliveries(ctx))
    if (isCallable(settings) && !isCallable(before)) tx.afterCommit((ctx) => wakeStepsOf(ctx, appId))
  })
  return getApp(ctx, { appId })
}

const rotate = statement(
  'rotate-app-secret',
  { id: text, sealedSecret: bytes, until: time },
  { id: text },
  (v) => sql`UPDATE connected_apps
   SET sealed_previous_secret = sealed_secret, previous_secret_until = ${v.until}, sealed_secret = ${v.sealedSecret}
   WHERE id = ${v.id} RETURNING id`,
)

/** Two secrets sign for a day, so that the receiver can change over meanwhile. */
export async function rotateAppSecret(
  ctx: ManagerContext,
  { appId }: Input<typeof contract.rotateAppSecret>,
): Promise<Data<typeof contract.rotateAppSecret>> {
  const secret = newSecret(ctx)
  const until = new Date(ctx.clock.now().getTime() + SECRET_OVERLAP_MS)
  await ctx.transaction(async (tx) => {
    const [app] = await tx.sql(rotate, { id: appId, sealedSecret: tx.secrets.seal(secret), until })
    if (!app) throw unknownApp()
    await auditManager(tx, 'app.secret_rotated', appId)
  })
  return { app_id: appId, signing_secret: secret, previous_secret_until: until.toISOString() }
}

const readSigning = statement(
  'app-signing',
  { id: text },
  SIGNING_ROW,
  (v) => sql`SELECT ${signingOf(sql`a`)} FROM connected_apps a WHERE a.id = ${v.id}`,
)

const hasNoEndpoint = () => new AppError('REQUEST_001', 'This application polls: it has no endpoint to call.')

/** Sends one signed message that says nothing. No database connection is held meanwhile. */
export async function pingApp(
  ctx: SystemContext,
  { appId }: Input<typeof contract.pingApp>,
): Promise<Data<typeof contract.pingApp>> {
  const [app] = await ctx.sql(readSigning, { id: appId })
  if (!app) throw unknownApp()
  if (app.endpoint === null) throw hasNoEndpoint()
  const id = ctx.secrets.randomId('png_')
  const body = JSON.stringify({ type: 'ping', timestamp: ctx.clock.now().toISOString(), data: {} })
  const started = performance.now()
  const { status, problem = null } = await sendWebhook(ctx, app, { id, body, about: null })
  if (isGoodPing({ status })) await noteGoodAnswer(ctx, app)
  return { app_id: appId, webhook_id: id, status, took_ms: Math.round(performance.now() - started), problem }
}

/** Where the application is called, by which secret, and what it is asked: for a check that signs in other ways too. */
export async function receiverOf(ctx: SystemContext, appId: string) {
  const [[app], { checks, confirms }] = await Promise.all([ctx.sql(readSigning, { id: appId }), getApp(ctx, { appId })])
  if (!app?.endpoint) throw hasNoEndpoint()
  const secret = ctx.secrets.open(app.sealed_secret)?.toString()
  if (!secret) throw new AppError('REQUEST_001', 'No configured key opens the signing secret of this application.')
  return { url: app.endpoint, secret, checks, confirms }
}

const deleteConnections = statement(
  'delete-connections-of-app',
  { appId: text, maxRows: integer },
  { id: text },
  (v) => sql`DELETE FROM app_connections
   WHERE ${isOneOf(sql`id`, sql`SELECT id FROM app_connections WHERE app_id = ${v.appId} LIMIT ${v.maxRows}`)} RETURNING id`,
)
// Every withdrawal reads this table before it writes tasks. The lock waits for those that have begun; later ones do not see the
// application.
const waitForStarts = statement('lock-apps', {}, {}, () => sql`LOCK TABLE connected_apps IN ACCESS EXCLUSIVE MODE`)
const deleteApp = statement(
  'remove-app',
  { id: text },
  { id: text },
  (v) => sql`DELETE FROM connected_apps WHERE id = ${v.id} RETURNING id`,
)

const BATCH_SIZE = 5_000

/**
 * Refused while deletion tasks are open, unless a reason waives them. What was not delivered to the application is deleted. It is
 * disabled first, and stays disabled if the removal fails.
 */
export async function removeApp(
  ctx: ManagerContext,
  { appId, waive: reason }: Input<typeof contract.removeApp>,
): Promise<Data<typeof contract.removeApp>> {
  if (!reason) await refuseOpenTasks(ctx, appId)
  else sentenceOf((await getApp(ctx, { appId })).waive_reasons, reason)
  await setApp(ctx, { appId, disabled: true })
  const waived = reason ? await waiveOpenTasks(ctx, appId, reason) : 0
  await eachBatch(BATCH_SIZE, async () => (await ctx.sql(deleteConnections, { appId, maxRows: BATCH_SIZE })).length)
  await ctx.transaction(async (tx) => {
    await tx.sql(waitForStarts, {})
    await refuseOpenTasks(tx, appId)
    await tx.sql(deleteConnections, { appId, maxRows: BATCH_SIZE })
    const [app] = await tx.sql(deleteApp, { id: appId })
    if (!app) throw unknownApp()
    await auditManager(tx, 'app.removed', appId)
  })
  return { app_id: appId, removed: true, waived_tasks: waived }
}

async function refuseOpenTasks(ctx: AnyContext, appId: string): Promise<void> {
  if ((await openTasksOf(ctx, appId, { maxRows: 1 })).length === 0) return
  throw new AppError('TASK_002', 'The application has open deletion tasks. Wait for them, or waive them with a reason.')
}

/** Returns how many it waived. */
async function waiveOpenTasks(ctx: ManagerContext, appId: string, reason: string): Promise<number> {
  const tasks = await openTasksOf(ctx, appId)
  if (tasks.length === 0) return 0
  let waived = 0
  for (const { id: taskId } of tasks) if (await waiveIfOpen(ctx, { taskId, reason })) waived++
  return waived + (await waiveOpenTasks(ctx, appId, reason))
}

/** False if the task has ended by itself meanwhile. */
const waiveIfOpen = (...call: Parameters<typeof waiveTask>): Promise<boolean> =>
  waiveTask(...call).then(
    () => true,
    (error) => {
      if (error instanceof AppError && error.code === 'TASK_002') return false
      throw error
    },
  )

// Counts by the partial indexes, so that the cost follows the open rows.
const readApps = statement(
  'read-apps',
  { appId: text.orNull },
  {
    ...SETTINGS,
    app_id: text,
    created_at: time,
    previous_secret_until: time.orNull,
    last_asked_at: time.orNull,
    waiting: integer,
    dead: integer,
    open_tasks: integer,
  },
  (v) => sql`SELECT id AS app_id, ${COLUMNS}, created_at, previous_secret_until,
     (SELECT max(s.last_used_at) FROM service_tokens s WHERE s.app_id = a.id) AS last_asked_at,
     (SELECT count(*)::int FROM event_deliveries d WHERE d.app_id = a.id AND d.due_at IS NOT NULL) AS waiting,
     (SELECT count(*)::int FROM event_deliveries d WHERE d.app_id = a.id AND d.dead_at IS NOT NULL) AS dead,
     (SELECT count(*)::int FROM deletion_tasks n WHERE n.app_id = a.id AND n.due_at IS NOT NULL) AS open_tasks
   FROM connected_apps a WHERE ${v.appId}::text IS NULL OR a.id = ${v.appId} ORDER BY a.name, a.id`,
)

async function showApps(ctx: SystemContext, appId: string | null): Promise<Shown[]> {
  const now = ctx.clock.now()
  const rows = await ctx.sql(readApps, { appId })
  return rows.map(({ waiting, dead, acknowledge_within_s, previous_secret_until: until, ...app }) => ({
    ...withIsoTimes(app),
    // Whoever asks for its tasks has no other way to say that they are done.
    acknowledges: app.endpoint === null ? 'later' : app.acknowledges,
    acknowledge_within_seconds: acknowledge_within_s,
    previous_secret_until: until && until > now ? until.toISOString() : null,
    deliveries: { waiting, dead },
  }))
}

export const listApps = async (ctx: SystemContext): Promise<Data<typeof contract.listApps>> => ({
  apps: await showApps(ctx, null),
})

export async function getApp(ctx: SystemContext, { appId }: Input<typeof contract.getApp>): Promise<Shown> {
  const [app] = await showApps(ctx, appId)
  if (!app) throw unknownApp()
  return app
}
