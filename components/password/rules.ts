'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import { z } from 'zod'
import { changePassword, confirmPasswordReset, requestPasswordReset } from '@/contract/password'

interface Repeated {
  new_password?: unknown
  repeated?: unknown
}

const repeated = z.string()
const isRepeated = (form: Repeated) => form.new_password === form.repeated
const differs = { path: ['repeated'], message: 'The two are not the same. Type the new password once more.' }

export const changePasswordRules = zodResolver(
  changePassword.body
    .extend({ repeated })
    .refine((form) => form.new_password !== form.current_password, {
      path: ['new_password'],
      message: 'PASSWORD_001: This is your current password. Choose another one.',
    })
    .refine(isRepeated, differs),
)

export const resetPasswordRules = zodResolver(
  confirmPasswordReset.body.extend({ repeated }).refine(isRepeated, differs),
)

export const forgotPasswordRules = zodResolver(
  z.object({
    email: z.string().min(1, 'Enter the email address of your account.').pipe(requestPasswordReset.body.shape.email),
  }),
)
