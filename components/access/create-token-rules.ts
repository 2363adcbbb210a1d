'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import { z } from 'zod'
import { tokenName } from '@/contract/access'
import { GRANTABLE_SCOPES } from '@/contract/define'
import { LIFETIME_DAYS } from './token-lifetimes'

const tokenForm = z.object({
  name: z.string().min(1, 'Say in a few words what the token is for.').pipe(tokenName),
  // One checkbox for each scope. What was checked before React took over stays checked.
  scopes: z
    .partialRecord(z.enum(GRANTABLE_SCOPES), z.boolean())
    .refine((checked) => GRANTABLE_SCOPES.some((scope) => checked[scope]), 'Choose at least one.'),
  expires_in_days: z.enum(LIFETIME_DAYS),
  current_password: z.string().min(1, 'Enter your current password.'),
})
export type TokenValues = z.output<typeof tokenForm>

export const createTokenRules = zodResolver(tokenForm)
