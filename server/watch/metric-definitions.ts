import { Counter, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers })
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers })
  return {
    registry,
    requests: new Histogram({
      name: 'account_request_duration_seconds',
      help: 'Answers of the API by operation and code: OK, REPLAYED or an error code.',
      labelNames: ['operation', 'code'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    mails: counter(
      'account_mails_total',
      'Messages by template and result: accepted, deferred (not taken for now) or refused (for good) by the mail server.',
      'template',
      'result',
    ),
    replayed: counter(
      'account_ledger_replayed_total',
      'Withdrawals that the database had lost and that this instance began again from the erasure ledger.',
    ),
    passwords: gauge(
      'account_password_hashes',
      'Password hashes of this instance by line (own, or foreign for imported ones) and state: running or waiting.',
      'line',
      'state',
    ),
    foreignHashes: gauge(
      'account_foreign_hashes_left',
      'Accounts whose password hash came from elsewhere and waits to be renewed at the next sign-in.',
    ),
    steps: gauge(
      'account_deletion_steps',
      'Unfinished deletion steps: open, and of these due, overdue and failing.',
      'state',
    ),
    dueDates: gauge(
      'account_withdrawals_due',
      'Open withdrawals by state of their due date: soon (within seven days) or overdue.',
      'state',
    ),
    endingTokens: gauge(
      'account_service_tokens_ending',
      'Service tokens that end within 30 days and were used in the last 30 days.',
    ),
    clockOff: gauge(
      'account_clock_off',
      'Whether the clocks of database and host differ by more than five minutes, so that no step, purge or cleanup runs.',
    ),
    held: gauge('account_held', 'By reason: 1 while no call is served although the database is there.', 'reason'),
    ledgerBatches: gauge(
      'account_ledger_batches_waiting',
      'Batches of the erasure ledger that its store does not have yet.',
    ),
    outbox: gauge('account_outbox_events', 'Events that the engine has not taken over.'),
    degraded: gauge(
      'account_degraded',
      'Mail server, engine, and the store of the erasure ledger after a minute: 1 while it does not answer, 0 while it does or where none is configured.',
      'part',
    ),
    deliveries: gauge(
      'account_event_deliveries',
      'Events to applications by state: waiting, or dead (given up after seven days).',
      'state',
    ),
    silentApps: gauge(
      'account_silent_applications',
      'Connected applications that have left a call without a good answer for 24 hours.',
    ),
    present: gauge(
      'account_present_tasks',
      'Deletion tasks whose application answers that it still has the person, and that an operator has to decide.',
    ),
    notices: gauge(
      'account_notices',
      'Notices by state: waiting for the mail server, or failed (given up in the last 30 days).',
      'state',
    ),
  }
}
