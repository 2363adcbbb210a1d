import type { Step } from '@/contract/withdrawal'

const IN_ORDER = [
  'session_revocation',
  'user_profile',
  'third_party_integrations',
  'data_archives',
] as const satisfies Step[]

/** A page may be older than the service, as in a rolling upgrade; such a step has its name for a title. */
export const isKnown = (step: string): step is Step => (IN_ORDER as readonly string[]).includes(step)

/** In the order of time, unknown steps last. */
export const inOrder = <T extends { step: string }>(steps: readonly T[]): T[] =>
  [...steps].sort((a, b) => rank(a.step) - rank(b.step))

const rank = (step: string) => (isKnown(step) ? IN_ORDER.indexOf(step) : IN_ORDER.length)
