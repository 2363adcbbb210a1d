'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import type { Resolver } from 'react-hook-form'
import { z } from 'zod'
import { changeEmail, newEmail, undoEmailChange, verifyEmail } from '@/contract/email'

export const changeEmailRules = zodResolver(
  changeEmail.body.safeExtend({ new_email: z.string().min(1, 'Enter your new email address.').pipe(newEmail) }),
)

export const codeRules = zodResolver(verifyEmail.body.pick({ verification_code: true }))

const notMeForm = undoEmailChange.body.required().extend({ repeated: z.string() })
export interface NotMeValues {
  new_password: string
  repeated: string
  /** Where there is no password to ask for, so that nothing but a person's choice sends the form. */
  sure: boolean
}

export const notMeRules = {
  password: zodResolver(
    notMeForm.refine(({ new_password, repeated }) => new_password === repeated, {
      path: ['repeated'],
      message: 'The two passwords are not the same. Type them again.',
      when: () => true,
    }),
  ) as unknown as Resolver<NotMeValues>,
  none: zodResolver(
    z.object({ sure: z.literal(true, 'Tick the box to show that you mean it.') }),
  ) as unknown as Resolver<NotMeValues>,
}
