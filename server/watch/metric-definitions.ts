import { Counter, Gauge, Histogram, Registry } from 'prom-client'

const GAUGES = {
  passwords: {
    name: 'account_password_hashes',
    help: 'Password hashes of this instance by line (own, or foreign for imported ones) and state: running or waiting.',
    labelNames: ['line', 'state'],
  },
  foreignHashes: {
    name: 'account_foreign_hashes_left',
    help: 'Accounts whose password hash came from elsewhere and waits to be renewed at the next sign-in.',
    labelNames: [],
  },
  steps: {
    name: 'account_deletion_steps',
    help: 'Unfinished deletion steps: open, and of these due, overdue and failing.',
    labelNames: ['state'],
  },
  dueDates: {
    name: 'account_withdrawals_due',
    help: 'Open withdrawals by state of their due date: soon (within seven days) or overdue.',
    labelNames: ['state'],
  },
  clockOff: {
    name: 'account_clock_off',
    help: 'Whether the clocks of database and host differ by more than five minutes, so that no step, purge or cleanup runs.',
    labelNames: [],
  },
  held: {
    name: 'account_held',
    help: 'By reason: 1 while no call is served although the database is there.',
    labelNames: ['reason'],
  },
  ledgerBatches: {
    name: 'account_ledger_batches_waiting',
    help: 'Batches of the erasure ledger that its store does not have yet.',
    labelNames: [],
  },
  outbox: { name: 'account_outbox_events', help: 'Events that the engine has not taken over.', labelNames: [] },
  degraded: {
    name: 'account_degraded',
    help: 'Mail server, engine, and the store of the erasure ledger after a minute: 1 while it does not answer, 0 while it does or where none is configured.',
    labelNames: ['part'],
  },
  deliveries: {
    name: 'account_event_deliveries',
    help: 'Events to applications by state: waiting, or dead (given up after seven days).',
    labelNames: ['state'],
  },
  silentApps: {
    name: 'account_silent_applications',
    help: 'Connected applications that have left a call without a good answer for 24 hours.',
    labelNames: [],
  },
  present: {
    name: 'account_present_tasks',
    help: 'Deletion tasks whose application answers that it still has the person, and that an operator has to decide.',
    labelNames: [],
  },
  notices: {
    name: 'account_notices',
    help: 'Notices by state: waiting for the mail server, or failed (given up in the last 30 days).',
    labelNames: ['state'],
  },
} as const

const REQUESTS = {
  name: 'account_request_duration_seconds',
  help: 'Answers of the API by operation and code: OK, REPLAYED or an error code.',
  labelNames: ['operation', 'code'] as const,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
}
const MAILS = {
  name: 'account_mails_total',
  help: 'Messages by template and result: accepted, deferred (not taken for now) or refused (for good) by the mail server.',
  labelNames: ['template', 'result'] as const,
}
const REPLAYED = {
  name: 'account_ledger_replayed_total',
  help: 'Withdrawals that the database had lost and that this instance began again from the erasure ledger.',
}

type Gauges = { [Name in keyof typeof GAUGES]: Gauge<(typeof GAUGES)[Name]['labelNames'][number]> }
export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const gauges = Object.entries(GAUGES).map(([key, definition]) => [
    key,
    new Gauge<string>({ ...definition, labelNames: [...definition.labelNames], registers }),
  ])
  return {
    registry,
    requests: new Histogram({ ...REQUESTS, registers }),
    mails: new Counter({ ...MAILS, registers }),
    replayed: new Counter({ ...REPLAYED, registers }),
    ...(Object.fromEntries(gauges) as Gauges),
  }
}
