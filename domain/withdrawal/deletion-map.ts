import { STEPS } from '@/contract/withdrawal'
import type { ErasurePhase } from '../deletion-counts'
import type { Erasure } from './steps/deletion-step'
import { DELETION_STEPS } from './steps/deletion-steps'

/** The Idempotency-Key and the right to read one's own progress must outlast the steps. */
const PURGED: readonly Erasure[] = [
  {
    table: 'idempotency_keys',
    category: 'repeated_calls',
    key: 'key',
    exported: { kind: 'never', because: 'sealed answers of the last day' },
  },
  {
    table: 'ended_credentials',
    category: 'ended_credentials',
    key: 'credential_hash',
    exported: { kind: 'never', because: 'hashes' },
  },
  {
    table: 'ended_external_ids',
    category: 'ended_external_ids',
    key: 'withdrawal_id',
    exported: { kind: 'never', because: 'hashes' },
  },
  // Those of calls that were made again after the withdrawal.
  {
    table: 'rate_limits',
    category: 'limits',
    key: 'key',
    exported: { kind: 'never', because: 'times of calls of the last day' },
  },
]

/** The entries of the phase; empty for the step that the request itself completes. */
export function erasuresOf(phase: ErasurePhase): readonly Erasure[] {
  if (phase === 'purge') return PURGED
  const step = DELETION_STEPS[phase]
  return 'erases' in step ? step.erases : []
}

/** Every table that refers to a user. A table that is missing here fails a test. */
export const DELETION_MAP: readonly (Erasure & { when: ErasurePhase })[] = [...STEPS, 'purge' as const].flatMap(
  (when) => erasuresOf(when).map((erasure) => ({ ...erasure, when })),
)

/** Tables that hold no user's data, or that the purge itself clears. */
export const TABLES_WITHOUT_ERASURE: Record<string, string> = {
  connected_apps: 'the applications themselves',
  service_tokens: "tokens of the adopter's services, which act for no user",
  link_requests: 'an encrypted address; deleted as soon as it is looked up, which takes a minute at most',
  withdrawal_receipts:
    'signed statements about a withdrawal, which name nobody; the cleanup deletes them after 24 months',
  signing_keys: 'keys of the service',
  audit_collector: 'how far the audit was sent to the collector of telemetry',
  erasure_ledger: 'the end of the chain of the ledger',
  erasure_ledger_batches: 'lines of the ledger under a pseudonym; deleted once the store has them',
  withdrawals: 'the purge clears feedback and, once no erasure is left, the user id; id, reason and times stay',
  deletion_steps: 'times and states of a withdrawal',
  deletion_counts:
    'numbers of a withdrawal: how many records of each category its steps deleted and kept; deleted with its last receipt',
  deletion_tasks:
    "the application's own id of the user is cleared once the task is over; the purge deletes the rows of those that are",
  event_deliveries:
    'what is still to be told holds its subject sealed once the account is erased; the rows go with their event, at the latest after thirty days',
  retained_records: 'what had to stay; the purge deletes it',
  outbox_events: 'withdrawal ids; deleted once the engine has them',
}
