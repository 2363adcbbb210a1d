import { endUserSessions, findUser, getUser, putUser, withdrawUser } from './admin'
import type { AdminContract, Contract, UserContract } from './define'
import { USER_OPERATIONS } from './user-operations'

/** What service tokens open. */
const ADMIN_OPERATIONS = { putUser, getUser, findUser, withdrawUser, endUserSessions } as const satisfies Record<
  string,
  AdminContract
>

/** Every operation of the API under its name, in the order in which it is described. */
export const OPERATIONS = { ...USER_OPERATIONS, ...ADMIN_OPERATIONS } as const
export type OperationName = keyof typeof OPERATIONS

export const userOperations: readonly (UserContract & { name: OperationName })[] = Object.values(USER_OPERATIONS)
export const adminOperations: readonly (AdminContract & { name: OperationName })[] = Object.values(ADMIN_OPERATIONS)
export const operations: readonly (Contract & { name: OperationName })[] = Object.values(OPERATIONS)
