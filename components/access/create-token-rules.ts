'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import type { Resolver } from 'react-hook-form'
import * as z from 'zod'
import { tokenName } from '@/contract/access'
import { GRANTABLE_SCOPES } from '@/contract/define'
import { RULES } from '@/contract/errors'
import { rule } from '../forms/form-rule'
import { LIFETIME_DAYS } from './token-lifetimes'

const tokenForm = z.object({
  name: z.string().min(1, rule('tokenName')).pipe(tokenName),
  // One checkbox for each scope. What was checked before React took over stays checked.
  scopes: z
    .partialRecord(z.enum(GRANTABLE_SCOPES), z.boolean())
    .refine((checked) => GRANTABLE_SCOPES.some((scope) => checked[scope]), rule('tokenScopes')),
  expires_in_days: z.enum(LIFETIME_DAYS),
  current_password: z.string().optional(),
})
/** The rules if the form asks for the password. */
const withPassword = tokenForm.extend({ current_password: z.string().min(1, RULES.currentPassword) })
export type TokenValues = z.output<typeof tokenForm>

export const createTokenRules = {
  password: zodResolver(withPassword) as unknown as Resolver<TokenValues>,
  none: zodResolver(tokenForm) as Resolver<TokenValues>,
}
