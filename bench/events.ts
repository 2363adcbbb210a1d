import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createUser } from '@/domain/access/user'
import { registerApp, setApp } from '@/domain/applications/manage'
import { beginDueDeliveries } from '@/domain/queue/deliveries'
import { type NoValues, statement } from '@/domain/sql'
import { withdrawByOperator } from '@/domain/withdrawal/withdraw-account'
import { openFreshContext } from './fresh-context'

/**
 * `npm run bench:events [-- events]`, on a fresh database: so many events (10,000 without a number) wait for one fast receiver and are
 * delivered. Then 100 accounts are withdrawn while 20 applications want to know, of which one hangs.
 */
const EVENTS = Number(process.argv[2] ?? 10_000)
const APPLICATIONS = 20
const WITHDRAWALS = 100

const { ctx, close } = await openFreshContext('events')
let onMessage: (body: string) => void = () => {}
const receiver = createServer(async (request, response) => {
  const body = await textOf(request)
  if (request.url === '/hangs') return
  onMessage(body)
  response.writeHead(204).end()
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
try {
  await measureThroughput()
  await measureStarts()
} finally {
  receiver.closeAllConnections()
  receiver.close()
  await close()
}
process.exit(0)

async function textOf(request: IncomingMessage) {
  let text = ''
  for await (const part of request) text += part
  return text
}

async function measureThroughput() {
  const { appId } = await registerApp(ctx, { name: 'Fast', endpoint: `${origin}/`, audience: 'everyone' })
  const fill = statement<{ appId: string; now: Date; count: number }>(
    'bench-fill-events',
    (v) => `WITH written AS (
       INSERT INTO events (id, type, user_id, data, version, occurred_at)
       SELECT 'evt_' || n, 'account.email_changed', 'usr_' || n, '{}', 1, ${v.now} FROM generate_series(1, ${v.count}::int) n RETURNING id
     )
     INSERT INTO event_deliveries (id, event_id, app_id, subject, status, due_at, created_at)
     SELECT 'dlv_' || id, id, ${v.appId}, 'customer-' || id, 'pending', ${v.now}, ${v.now} FROM written`,
  )
  await ctx.sql(fill, { appId, now: ctx.clock.now(), count: EVENTS })
  await ctx.sql(
    statement<NoValues>('bench-analyze', () => 'ANALYZE'),
    {},
  )
  const ids = new Set<string>()
  let calls = 0
  const received = Promise.withResolvers<void>()
  onMessage = (body) => {
    calls++
    ids.add((JSON.parse(body) as { data: { subject: string } }).data.subject)
    if (ids.size === EVENTS) received.resolve()
  }
  const begun = performance.now()
  await beginDueDeliveries(ctx)
  await received.promise
  const seconds = (performance.now() - begun) / 1000
  while ((await ctx.db.eventDelivery.count({ where: { status: 'delivered' } })) < EVENTS) await sleep(20)
  print('Delivered', { events: EVENTS, calls, seconds: seconds.toFixed(1), perSecond: Math.round(EVENTS / seconds) })
  await setApp(ctx, { appId, disabled: true })
}

async function measureStarts() {
  for (let n = 0; n < APPLICATIONS; n++) {
    const endpoint = `${origin}${n === 0 ? '/hangs' : `/${n}`}`
    await registerApp(ctx, { name: `App ${n}`, endpoint, audience: 'everyone', events: ['account.withdrawal_started'] })
  }
  const expected = WITHDRAWALS * (APPLICATIONS - 1)
  const tookMs: number[] = []
  const received = Promise.withResolvers<void>()
  onMessage = (body) => {
    const { type, timestamp } = JSON.parse(body) as { type: string; timestamp: string }
    if (type !== 'account.withdrawal_started') return
    tookMs.push(Date.now() - Date.parse(timestamp))
    if (tookMs.length === expected) received.resolve()
  }
  const begun = performance.now()
  for (let n = 0; n < WITHDRAWALS; n++) {
    const email = `person.${n}@example.test`
    const userId = await createUser(ctx, { email, password: 'correct horse', name: 'Ada', emailVerified: true })
    await withdrawByOperator(ctx, { userId, confirmation: 'DELETE_MY_ACCOUNT' })
    ctx.background(() => beginDueDeliveries(ctx))
  }
  const startedMs = performance.now() - begun
  await received.promise
  tookMs.sort((a, b) => a - b)
  const at = (share: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * share))]
  print('Told of a start', {
    withdrawals: WITHDRAWALS,
    startedInSeconds: (startedMs / 1000).toFixed(1),
    messages: tookMs.length,
    p50ms: at(0.5),
    p99ms: at(0.99),
    maxMs: tookMs.at(-1),
  })
}

function print(what: string, figures: object) {
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`)
}
