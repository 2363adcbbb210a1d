'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import type { Resolver } from 'react-hook-form'
import { z } from 'zod'
import { withdrawBody } from '@/contract/withdrawal'

const withdrawForm = withdrawBody.safeExtend({ current_password: z.string().min(1, 'Enter your current password.') })
export type WithdrawValues = z.input<typeof withdrawForm>

const check = zodResolver(withdrawForm)

/** An empty field counts as left out. */
export const withdrawRules: Resolver<WithdrawValues> = ({ reason, feedback, ...values }, context, options) =>
  check({ ...values, reason: reason || undefined, feedback: feedback || undefined }, context, options)
