import {
  createAccessToken,
  endOtherSessions,
  endSession,
  listAccessTokens,
  listSessions,
  revokeAccessToken,
} from './access'
import { endUserSessions, findUser, getUser, putUser, withdrawUser } from './admin'
import type { AdminContract, Contract, UserContract } from './define'
import { cancelEmailChange, changeEmail, getEmailStatus, resendVerification, verifyEmail } from './email'
import { getWithdrawalStatus, withdrawAccount } from './withdrawal'

const ofUsers = [
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

const ofServices = [putUser, getUser, findUser, withdrawUser, endUserSessions] as const

export type OperationName = (typeof ofUsers | typeof ofServices)[number]['name']

/** What a user's tokens open, in the order in which it is described. */
export const userOperations: readonly (UserContract & { name: OperationName })[] = ofUsers
/** What service tokens open. */
export const adminOperations: readonly (AdminContract & { name: OperationName })[] = ofServices
/** Every operation of the API. */
export const operations: readonly (Contract & { name: OperationName })[] = [...userOperations, ...adminOperations]
