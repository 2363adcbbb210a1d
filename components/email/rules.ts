'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import { z } from 'zod'
import { changeEmail, newEmail, verifyEmail } from '@/contract/email'

export const changeEmailRules = zodResolver(
  changeEmail.body.safeExtend({ new_email: z.string().min(1, 'Enter your new email address.').pipe(newEmail) }),
)

export const codeRules = zodResolver(verifyEmail.body.pick({ verification_code: true }))
