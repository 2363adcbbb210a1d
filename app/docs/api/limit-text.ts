import { formatDuration } from '@/components/ui/duration'
import type { Contract } from '@/contract/define'
import { systemContext } from '@/server/system-context'

type Bucket = NonNullable<Contract['limit']>['bucket'] | 'change'

const WHOM: Partial<Record<Bucket, string>> = { report: 'each task', service: 'each service token' }

const within = (places: number, windowMs: number) => `${places} within ${formatDuration(windowMs / 1000, 'en')}`

/** “3 within 1 hour, for each account”, as this installation has it. */
export function limitText(bucket: Bucket): string {
  const { places, windowMs } = systemContext().limits[bucket]
  return `${within(places, windowMs)}, for ${WHOM[bucket] ?? 'each account'}`
}

export const resendText = () => `${within(1, systemContext().limits.resendCooldownMs)}, for each change`

/** The limit that an operation meets first. A change and a resend take their places themselves. */
export function limitOf({ name, limit }: Contract): string | undefined {
  if (name === 'changeEmail') return limitText('change')
  if (name === 'resendVerification') return resendText()
  return limit && limitText(limit.bucket)
}
