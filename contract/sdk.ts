/** What a program outside this project needs; built to `dist/client.mjs`, which imports zod alone and runs in Node and browsers. */
export * from './access'
export { ApiError, type ClientOptions, createClient } from './client'
export * from './email'
export { ERRORS, type ErrorCode } from './errors'
export * from './withdrawal'
