'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import * as z from 'zod'
import { RULES } from '@/contract/errors'
import { changePassword, confirmPasswordReset, requestPasswordReset } from '@/contract/password'
import { rule } from '../forms/form-rule'

interface Repeated {
  new_password?: unknown
  repeated?: unknown
}

/** An empty field gets a message about its purpose, and not the rule for passwords. */
export const newPasswordTwice = {
  new_password: z.string().min(1, rule('newPassword')).pipe(confirmPasswordReset.body.shape.new_password),
  repeated: z.string().min(1, rule('repeatedMissing')),
}
const isRepeated = (form: Repeated) => form.new_password === form.repeated
const differs = { path: ['repeated'], message: rule('repeated') }

export const changePasswordRules = zodResolver(
  changePassword.body
    .extend(newPasswordTwice)
    .refine((form) => form.new_password !== form.current_password, {
      path: ['new_password'],
      message: `PASSWORD_001: ${RULES.currentAsNew}`,
    })
    .refine(isRepeated, differs),
)

export const resetPasswordRules = zodResolver(
  confirmPasswordReset.body.extend(newPasswordTwice).refine(isRepeated, differs),
)

export const forgotPasswordRules = zodResolver(
  z.object({
    email: z.string().min(1, rule('accountEmail')).pipe(requestPasswordReset.body.shape.email),
  }),
)
