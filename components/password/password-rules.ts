'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import * as z from 'zod'
import { RULES } from '@/contract/errors'
import { changePassword, confirmPasswordReset, requestPasswordReset } from '@/contract/password'
import { rule } from '../forms/form-rule'

/** An empty field gets a message about its purpose, and not the rule for passwords. */
export const newPassword = z.string().min(1, rule('newPassword')).pipe(confirmPasswordReset.body.shape.new_password)

export const changePasswordRules = zodResolver(
  changePassword.body
    .extend({ new_password: newPassword })
    .refine((form) => form.new_password !== form.current_password, {
      path: ['new_password'],
      message: `PASSWORD_001: ${RULES.currentAsNew}`,
    }),
)

export const resetPasswordRules = zodResolver(confirmPasswordReset.body.extend({ new_password: newPassword }))

export const forgotPasswordRules = zodResolver(
  z.object({
    email: z.string().min(1, rule('accountEmail')).pipe(requestPasswordReset.body.shape.email),
  }),
)
