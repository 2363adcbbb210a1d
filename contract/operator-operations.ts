import { endAccountSessions } from './admin'
import { pingApp, resendDeadLetters, rotateAppSecret, setApp } from './apps'
import { endBlocker } from './blockers'
import type { AdminContract } from './define'
import { endTransaction, lookUp, retryWithdrawal } from './operator'
import { retryTask, waiveTask } from './tasks'

/** Operations for services that the pages of /admin call too. */
export const OPERATOR_OPERATIONS = {
  setApp,
  rotateAppSecret,
  pingApp,
  resendDeadLetters,
  waiveTask,
  retryTask,
  retryWithdrawal,
  endTransaction,
  endBlocker,
  endAccountSessions,
  lookUp,
} as const satisfies Record<string, AdminContract & { operator: 'any' | 'fresh' }>
