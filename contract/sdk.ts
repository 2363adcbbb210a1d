/**
 * What a program outside this project needs. It is built to `dist/client.mjs`, which imports only zod and runs in Node and
 * browsers.
 */
export * from './access'
export * from './admin'
export * from './apps'
export { endBlocker, putBlocker, removeBlocker } from './blockers'
export { type ClientOptions, createClient, createServiceClient, type ServiceClientOptions } from './client'
export { listConnections, putConnection, removeConnection } from './connections'
export * from './email'
export { ApiError, CONFIRMATION, ERRORS, type ErrorCode } from './errors'
export * from './export'
export { receiveMailEvents } from './mail-events'
export { endTransaction, lookUp, retryWithdrawal } from './operator'
export { issuePageToken } from './page-tokens'
export * from './password'
export * from './receipt'
export {
  type AccountMessage,
  createReceiver,
  type DeletionTask,
  type HeldBack,
  isSigned,
  type Outcome,
  type ReceiverOptions,
  reportTask,
  type TaskReport,
} from './receiver'
export * from './tasks'
export * from './vocabulary'
export * from './withdrawal'
export * from './withdrawal-request'
