import {
  createAccessToken,
  endOtherSessions,
  endSession,
  listAccessTokens,
  listSessions,
  revokeAccessToken,
  startReauthentication,
} from './access'
import type { UserContract } from './define'
import { cancelEmailChange, changeEmail, getEmailStatus, resendVerification, verifyEmail } from './email'
import { exportData } from './export'
import { changePassword } from './password'
import { listReceipts } from './receipt'
import { getWithdrawalStatus, previewWithdrawal, withdrawAccount } from './withdrawal'

/** Operations for a user's tokens. They are separate, so that pages do not load the admin API. */
export const USER_OPERATIONS = {
  changeEmail,
  verifyEmail,
  getEmailStatus,
  resendVerification,
  cancelEmailChange,
  withdrawAccount,
  getWithdrawalStatus,
  previewWithdrawal,
  listReceipts,
  exportData,
  createAccessToken,
  listAccessTokens,
  revokeAccessToken,
  listSessions,
  endSession,
  endOtherSessions,
  startReauthentication,
  changePassword,
} as const satisfies Record<string, UserContract>
