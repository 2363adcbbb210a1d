import { endUserSessions, findUser, getUser, listUndeliverableUsers, putUser, withdrawUser } from './admin'
import { getApp, listApps, listEvents, removeApp } from './apps'
import { putBlocker, removeBlocker } from './blockers'
import { listConnections, putConnection, removeConnection } from './connections'
import type { AdminContract, Contract, TaskContract, UserContract } from './define'
import { LINK_OPERATIONS } from './link-operations'
import { OPERATOR_OPERATIONS } from './operator-operations'
import { issuePageToken } from './page-tokens'
import { reportOnTask, takeTasks } from './tasks'
import { USER_OPERATIONS } from './user-operations'

/** Operations for service tokens. */
const ADMIN_OPERATIONS = {
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
  removeApp,
  listEvents,
  takeTasks,
  ...OPERATOR_OPERATIONS,
} as const satisfies Record<string, AdminContract>

/** Operations for the token of a deletion task. */
const TASK_OPERATIONS = { reportOnTask } as const satisfies Record<string, TaskContract>

/** Every operation of the API under its name, in the order in which it is described. */
export const OPERATIONS = { ...USER_OPERATIONS, ...LINK_OPERATIONS, ...ADMIN_OPERATIONS, ...TASK_OPERATIONS } as const
export type OperationName = keyof typeof OPERATIONS

export const userOperations: readonly (UserContract & { name: OperationName })[] = Object.values(USER_OPERATIONS)
export const adminOperations: readonly (AdminContract & { name: OperationName })[] = Object.values(ADMIN_OPERATIONS)
export const operations: readonly (Contract & { name: OperationName })[] = Object.values(OPERATIONS)
