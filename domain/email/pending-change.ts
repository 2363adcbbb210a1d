import { AppError } from '@/contract/errors'
import type { Context, PendingChange, SystemContext } from '../context'

export const isExhausted = (ctx: SystemContext, change: { attempts: number }): boolean =>
  change.attempts >= ctx.limits.codeAttempts

export const isExpired = (ctx: SystemContext, change: { expiresAt: Date }): boolean =>
  change.expiresAt <= ctx.clock.now()

export const resendAvailableAt = (ctx: SystemContext, change: { sentAt: Date }): Date =>
  new Date(change.sentAt.getTime() + ctx.limits.resendCooldownMs)

/** A code lives from its message, a request from its start: whichever ends first. */
export const codeExpiresAt = (ctx: SystemContext, sentAt: Date, requestedAt: Date): Date =>
  new Date(Math.min(sentAt.getTime() + ctx.limits.codeValidityMs, requestedAt.getTime() + ctx.limits.changeLifetimeMs))

/** The caller's pending change with this id, if it can still be verified. One order of refusals for verify, resend and cancel. */
export function requireOpenChange(ctx: Context, changeRequestId: string): PendingChange {
  const change = ctx.actor.pendingChange
  if (change?.id !== changeRequestId) throw new AppError('EMAIL_006')
  if (isExpired(ctx, change)) throw new AppError('EMAIL_004')
  if (isExhausted(ctx, change)) throw new AppError('EMAIL_005')
  return change
}
