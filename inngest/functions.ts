import type { EngineEventName } from '@/domain/work/outbox'
import { SCHEDULED } from './functions/due-work'
import { processWithdrawal } from './functions/process-withdrawal'

/** The function that each event wakes. The scheduled function of the same job does what a lost event leaves undone. */
const WOKEN: Record<EngineEventName, typeof processWithdrawal> = {
  'account/withdrawal.started': processWithdrawal,
}

/** All functions of the engine. */
export const FUNCTIONS = [...Object.values(WOKEN), ...Object.values(SCHEDULED)]
