import type { BucketState } from '@/domain/context'
import { secondsUntil } from '@/domain/limits/buckets'

/** As draft-ietf-httpapi-ratelimit-headers has them, windows and waits in whole seconds; none where nothing is limited. */
export function rateLimitHeaders(buckets: BucketState[], now: Date): Record<string, string> {
  if (buckets.length === 0) return {}
  const policies = buckets.map(({ name, places, windowMs }) => `"${name}";q=${places};w=${Math.ceil(windowMs / 1000)}`)
  const left = buckets.map(
    ({ name, remaining, resetsAt }) => `"${name}";r=${remaining};t=${resetsAt > now ? secondsUntil(resetsAt, now) : 0}`,
  )
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: left.join(', ') }
}
