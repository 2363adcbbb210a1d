'use client'

/** Everything of the pages that needs zod and the contract's schemas. It is one chunk, which only `load-contract.ts` loads. */
export { createTokenRules } from './access/create-token-rules'
export { call, callWith, forgetSession } from './api-client'
export { changeEmailRules, codeRules } from './email/rules'
export { withdrawRules } from './withdrawal/withdraw-rules'
