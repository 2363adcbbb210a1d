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
