'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import type { Resolver } from 'react-hook-form'
import * as z from 'zod'
import { RULES } from '@/contract/errors'
import { withdrawBody } from '@/contract/withdrawal'

const withdrawForm = withdrawBody.safeExtend({ current_password: z.string().optional() })
/** The rules if the form asks for the password. */
const withPassword = withdrawBody.safeExtend({ current_password: z.string().min(1, RULES.currentPassword) })
export type WithdrawValues = z.input<typeof withdrawForm>

/** An empty field counts as left out. */
const leavingOut =
  (check: Resolver<WithdrawValues>): Resolver<WithdrawValues> =>
  ({ reason, feedback, ...values }, context, options) =>
    check({ ...values, reason: reason || undefined, feedback: feedback || undefined }, context, options)

export const withdrawRules = {
  password: leavingOut(zodResolver(withPassword) as Resolver<WithdrawValues>),
  none: leavingOut(zodResolver(withdrawForm)),
}
