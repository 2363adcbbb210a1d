import type { Contract } from '@/contract/define'
import { OPERATIONS, type OperationName } from '@/contract/operations'
import { findUser, getUser } from '@/domain/accounts/find-user'
import { listUndeliverableUsers } from '@/domain/accounts/list-undeliverable'
import { lookUpOf } from '@/domain/accounts/look-up'
import { receiveMailEvents } from '@/domain/accounts/mail-events'
import { putUser } from '@/domain/accounts/put-user'
import { listConnections, putConnection, removeConnection } from '@/domain/applications/connect'
import { getApp, listApps, pingApp, removeApp, rotateAppSecret, setApp } from '@/domain/applications/manage'
import { listEvents, resendDeadLetters } from '@/domain/applications/operate-deliveries'
import { retryTask, waiveTask } from '@/domain/applications/operate-tasks'
import { takeTasks } from '@/domain/applications/take-tasks'
import { endTransaction } from '@/domain/applications/transactions'
import { cancelEmailChange } from '@/domain/email/cancel-email-change'
import { changeEmail } from '@/domain/email/change-email'
import { getEmailChange } from '@/domain/email/get-email-change'
import { getEmailStatus } from '@/domain/email/get-email-status'
import { getNotMe } from '@/domain/email/get-not-me'
import { resendVerification } from '@/domain/email/resend-verification'
import { undoEmailChange } from '@/domain/email/undo-email-change'
import { verifyEmail } from '@/domain/email/verify-email'
import { changePassword } from '@/domain/passwords/change-password'
import { confirmPasswordReset } from '@/domain/passwords/confirm-password-reset'
import { disownSignIn, getSignIn } from '@/domain/passwords/disown-sign-in'
import { getPasswordReset } from '@/domain/passwords/get-password-reset'
import { requestPasswordReset } from '@/domain/passwords/request-password-reset'
import { createAccessToken, listAccessTokens, revokeAccessToken } from '@/domain/sessions/access-tokens'
import { endAccountSessions, endUserSessions } from '@/domain/sessions/end-user-sessions'
import { issuePageToken } from '@/domain/sessions/issue-page-token'
import { startReauthentication } from '@/domain/sessions/reauthenticate'
import { endOtherSessions, endSession, listSessions } from '@/domain/sessions/sessions'
import { exportData } from '@/domain/withdrawal/export-data'
import { getWithdrawalStatus } from '@/domain/withdrawal/get-withdrawal-status'
import { retryWithdrawal } from '@/domain/withdrawal/operate-withdrawal'
import { previewRequestedWithdrawal, previewWithdrawal } from '@/domain/withdrawal/preview-withdrawal'
import { endBlocker, putBlocker, removeBlocker } from '@/domain/withdrawal/push-blocker'
import { listReceipts } from '@/domain/withdrawal/receipts/receipts'
import { reportOnTask } from '@/domain/withdrawal/report-on-task'
import { requestWithdrawal } from '@/domain/withdrawal/request-withdrawal'
import { confirmRequestedWithdrawal, withdrawAccount, withdrawUser } from '@/domain/withdrawal/withdraw-account'
import { type Endpoint, endpoint, type Verb } from './endpoint'

/** The verb of each operation; an operation without one does not compile. */
const VERBS: { [Name in OperationName]: Verb<(typeof OPERATIONS)[Name]> } = {
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
  requestPasswordReset,
  getPasswordReset,
  confirmPasswordReset,
  receiveMailEvents,
  requestWithdrawal,
  previewRequestedWithdrawal,
  confirmRequestedWithdrawal,
  getEmailChange,
  getNotMe,
  undoEmailChange,
  getSignIn,
  disownSignIn,
  putUser,
  getUser,
  findUser,
  listUndeliverableUsers,
  withdrawUser,
  endUserSessions,
  issuePageToken,
  putBlocker,
  removeBlocker,
  putConnection,
  removeConnection,
  listConnections,
  listApps,
  getApp,
  setApp,
  removeApp,
  rotateAppSecret,
  pingApp,
  listEvents,
  takeTasks,
  waiveTask,
  retryTask,
  retryWithdrawal,
  resendDeadLetters,
  endTransaction,
  endBlocker,
  endAccountSessions,
  lookUp: lookUpOf,
  reportOnTask,
}

/** The request handler of each operation. */
export const ENDPOINTS = Object.fromEntries(
  Object.values(OPERATIONS).map((contract: Contract) => {
    const name = contract.name as OperationName
    return [name, endpoint(contract, VERBS[name] as Verb<Contract>)]
  }),
) as Record<OperationName, Endpoint>
