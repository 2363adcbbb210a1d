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

/** Every operation of the API, in the order in which it is described. */
const described = [
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
] as const

export type OperationName = (typeof described)[number]['name']
export const operations: readonly (Contract & { name: OperationName })[] = described
