import type { LinkContract } from './define'
import { getNotMe, undoEmailChange } from './email'
import { receiveMailEvents } from './mail-events'
import { confirmPasswordReset, getPasswordReset, requestPasswordReset } from './password'

/** Operations for which nobody has to be signed in. */
export const LINK_OPERATIONS = {
  getNotMe,
  undoEmailChange,
  requestPasswordReset,
  getPasswordReset,
  confirmPasswordReset,
  receiveMailEvents,
} as const satisfies Record<string, LinkContract>
