/** What a program outside this project needs; built to `dist/client.mjs`, which imports zod alone and runs in Node and browsers. */
export * from './access'
export * from './admin'
export { type ClientOptions, createClient, createServiceClient, type ServiceClientOptions } from './client'
export * from './email'
export { ApiError, CONFIRMATION, ERRORS, type ErrorCode } from './errors'
export * from './vocabulary'
export * from './withdrawal'
