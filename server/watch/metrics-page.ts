import { timingSafeEqual } from 'node:crypto'
import type { Gauge } from 'prom-client'
import type { Figure } from '@/domain/figures'
import { countForeignHashes } from '@/domain/passwords/foreign-hashes'
import { sha256 } from '@/domain/sessions/authenticate'
import { countEndingTokens } from '@/domain/sessions/service-tokens'
import { watchBacklog } from '@/domain/withdrawal/watch-withdrawals'
import { HOLDS, processState } from '../process-state'
import { getEnv } from '../settings/env'
import { systemContext } from '../system-context'
import { currentHealth } from './health'
import { DISPENSABLE } from './health-checks'
import { metrics } from './metrics'

const notStored = { 'Cache-Control': 'no-store' }

/** The metrics in Prometheus' text format, for callers with METRICS_TOKEN. Without that setting the page does not exist. */
export async function metricsPage(request: Request): Promise<Response> {
  const token = getEnv().metricsToken
  if (!token) return new Response('Not found', { status: 404, headers: notStored })
  const given = /^Bearer +(\S+)$/i.exec(request.headers.get('Authorization') ?? '')?.[1] ?? ''
  // Both hashes have the same length, which timingSafeEqual needs.
  if (!timingSafeEqual(sha256(given), sha256(token))) {
    return new Response('Unauthorized', { status: 401, headers: { ...notStored, 'WWW-Authenticate': 'Bearer' } })
  }
  await readGauges()
  const { registry } = metrics()
  return new Response(await registry.metrics(), {
    headers: { ...notStored, 'Content-Type': registry.contentType },
  })
}

async function readGauges() {
  const gauges = metrics()
  const ctx = systemContext()
  for (const [line, load] of Object.entries(ctx.passwords.load())) {
    for (const [state, count] of Object.entries(load)) gauges.passwords.set({ line, state }, count)
  }
  gauges.clockOff.set(ctx.clock.isOff?.() ? 1 : 0)
  for (const reason of HOLDS) gauges.held.set({ reason }, processState.heldFor === reason ? 1 : 0)
  const health = await currentHealth()
  for (const part of DISPENSABLE) gauges.degraded.set({ part }, health.degraded.includes(part) ? 1 : 0)
  const [backlog, left, { ending_tokens: ending }] = await Promise.all([
    watchBacklog(ctx),
    countForeignHashes(ctx),
    countEndingTokens(ctx),
  ])
  for (const [gauge, figures] of [
    [gauges.steps, backlog.steps],
    [gauges.dueDates, backlog.dueDates],
    [gauges.notices, backlog.notices],
    [gauges.deliveries, backlog.deliveries],
  ] as const) {
    for (const [state, count] of Object.entries(figures)) show(gauge, count, { state })
  }
  show(gauges.outbox, backlog.outbox)
  show(gauges.ledgerBatches, backlog.ledger.waiting)
  show(gauges.silentApps, backlog.silentApps)
  show(gauges.present, backlog.present)
  show(gauges.foreignHashes, left)
  show(gauges.endingTokens, ending)
}

/** A figure that cannot be read is left out, because its old value would look like a current one. */
function show(gauge: Gauge, count: Figure, labels: Record<string, string> = {}) {
  if (count === null) gauge.remove(labels)
  else gauge.set(labels, count)
}
