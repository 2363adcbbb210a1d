import {
  createAccessToken,
  endOtherSessions,
  endSession,
  listAccessTokens,
  listSessions,
  revokeAccessToken,
  startReauthentication,
} from './access'
import type { Contract } from './define'
import { cancelEmailChange, changeEmail, getEmailStatus, resendVerification, verifyEmail } from './email'
import { getWithdrawalStatus, withdrawAccount } from './withdrawal'

/** Every operation of the API, in the order in which it is described. */
export const operations: readonly Contract[] = [
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
  startReauthentication,
]
