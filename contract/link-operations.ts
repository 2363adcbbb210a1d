import { disownSignIn, getSignIn } from './access'
import type { AccountLinkContract, LinkContract } from './define'
import { getEmailChange, getNotMe, undoEmailChange } from './email'
import { receiveMailEvents } from './mail-events'
import { confirmPasswordReset, getPasswordReset, requestPasswordReset } from './password'
import { confirmRequestedWithdrawal, previewRequestedWithdrawal, requestWithdrawal } from './withdrawal-request'

/** Operations of people who are not signed in. */
export const LINK_OPERATIONS = {
  getEmailChange,
  getNotMe,
  undoEmailChange,
  getSignIn,
  disownSignIn,
  requestPasswordReset,
  getPasswordReset,
  confirmPasswordReset,
  receiveMailEvents,
  requestWithdrawal,
  previewRequestedWithdrawal,
  confirmRequestedWithdrawal,
} as const satisfies Record<string, LinkContract | AccountLinkContract>
