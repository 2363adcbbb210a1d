import { formatDuration } from '@/components/ui/duration'
import type { Contract } from '@/contract/define'
import { systemContext } from '@/server/system-context'

type Bucket = NonNullable<Contract['limit']>['bucket'] | 'change'

/** The limit that an operation meets first; a change of the address takes its place itself. */
export const bucketOf = ({ name, limit }: Contract): Bucket | undefined =>
  name === 'changeEmail' ? 'change' : limit?.bucket

const WHOM: Partial<Record<Bucket, string>> = { report: 'each task', service: 'each service token' }

/** “3 within 1 hour, for each account”, as this installation has it. */
export function limitText(bucket: Bucket): string {
  const { places, windowMs } = systemContext().limits[bucket]
  return `${places} within ${formatDuration(windowMs / 1000, 'en')}, for ${WHOM[bucket] ?? 'each account'}`
}
