import {
  createAccessToken,
  endOtherSessions,
  endSession,
  listAccessTokens,
  listSessions,
  revokeAccessToken,
} from './access'
import type { Contract } from './define'
import { cancelEmailChange, changeEmail, getEmailStatus, resendVerification, verifyEmail } from './email'
import { getWithdrawalStatus, withdrawAccount } from './withdrawal'

/** Every operation of the API under its name, in the order in which it is described. */
export const OPERATIONS = {
  changeEmail,
  verifyEmail,
  getEmailStatus,
  resendVerification,
  cancelEmailChange,
  withdrawAccount,
  getWithdrawalStatus,
  createAccessToken,
  listAccessTokens,
  revokeAccessToken,
  listSessions,
  endSession,
  endOtherSessions,
} as const satisfies Record<string, Contract>
export type OperationName = keyof typeof OPERATIONS

export const operations: readonly (Contract & { name: OperationName })[] = Object.values(OPERATIONS)
