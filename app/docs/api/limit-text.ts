import { formatDuration } from '@/components/ui/duration'
import type { Contract } from '@/contract/define'
import { systemContext } from '@/server/system-context'
import { type LimitName, limitNameOf } from './reference'

const WHOM: Partial<Record<LimitName, string>> = {
  report: 'each task',
  service: 'each service token',
  resend: 'each change',
  passwordResetAddress: 'each client',
  withdrawalRequestAddress: 'each client',
}

/** “3 within 1 hour, for each account”, as this installation has it. */
export function limitText(limit: LimitName): string {
  const { limits } = systemContext()
  const { places, windowMs } = limit === 'resend' ? { places: 1, windowMs: limits.resendCooldownMs } : limits[limit]
  return `${places} within ${formatDuration(windowMs / 1000, 'en')}, for ${WHOM[limit] ?? 'each account'}`
}

export function limitOf(contract: Contract): string | undefined {
  const limit = limitNameOf(contract)
  return limit && limitText(limit)
}
