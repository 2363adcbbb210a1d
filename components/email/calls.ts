'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import { z } from 'zod'
import type { Body } from '@/contract/define'
import {
  cancelEmailChange,
  changeEmail,
  getEmailStatus,
  newEmail,
  resendVerification,
  verifyEmail,
} from '@/contract/email'
import { call } from '../api'

export const changeRules = zodResolver(
  changeEmail.body.safeExtend({ new_email: z.string().min(1, 'Enter your new email address.').pipe(newEmail) }),
)
export const codeRules = zodResolver(verifyEmail.body.pick({ verification_code: true }))

export const readStatus = (userId: string) => call(getEmailStatus, { userId })
export const change = (userId: string, body: Body<typeof changeEmail>) => call(changeEmail, { userId }, body)
export const verify = (userId: string, body: Body<typeof verifyEmail>) => call(verifyEmail, { userId }, body)
export const resend = (userId: string, body: Body<typeof resendVerification>) =>
  call(resendVerification, { userId }, body)
export const cancel = (userId: string, changeRequestId: string) => call(cancelEmailChange, { userId, changeRequestId })
