/** What a program outside this project needs; built to `dist/client.mjs`, which imports zod alone and runs in Node and browsers. */
export * from './access'
export { type ClientOptions, createClient } from './client'
export * from './email'
export { ApiError, CONFIRMATION, ERRORS, type ErrorCode } from './errors'
export * from './vocabulary'
export * from './withdrawal'
