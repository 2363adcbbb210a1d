'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import type { Resolver } from 'react-hook-form'
import * as z from 'zod'
import { changeEmail, newEmail, undoEmailChange, verifyEmail } from '@/contract/email'
import { VERIFICATION_CODE_LENGTH } from '@/contract/vocabulary'
import { rule } from '../forms/form-rule'
import { newPassword } from '../password/password-rules'

export const changeEmailRules = zodResolver(
  changeEmail.body.safeExtend({ new_email: z.string().min(1, rule('newEmail')).pipe(newEmail) }),
)

const { verification_code: code } = verifyEmail.body.shape
/** Nothing that is shorter than a code is sent, so that it costs no attempt. */
export const codeRules = zodResolver(
  z.object({ verification_code: z.string().min(VERIFICATION_CODE_LENGTH, rule('code')).pipe(code) }),
)

export interface NotMeValues {
  new_password: string
  /** The rules for an account without a password, where only a choice of the person submits the form. */
  sure: boolean
}

export const notMeRules = {
  password: zodResolver(
    undoEmailChange.body.required().extend({ new_password: newPassword }),
  ) as unknown as Resolver<NotMeValues>,
  none: zodResolver(z.object({ sure: z.literal(true, rule('sure')) })) as unknown as Resolver<NotMeValues>,
}
