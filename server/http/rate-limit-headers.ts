import type { BucketState } from '@/domain/context'
import { secondsUntil } from '@/domain/limits/buckets'

/** The headers of draft-ietf-httpapi-ratelimit-headers, with windows and waits in whole seconds. Empty if no bucket was used. */
export function rateLimitHeaders(buckets: BucketState[], now: Date): Record<string, string> {
  if (buckets.length === 0) return {}
  const policies = buckets.map(({ name, places, windowMs }) => `"${name}";q=${places};w=${Math.ceil(windowMs / 1000)}`)
  const left = buckets.map(
    ({ name, remaining, resetsAt }) => `"${name}";r=${remaining};t=${resetsAt > now ? secondsUntil(resetsAt, now) : 0}`,
  )
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: left.join(', ') }
}
