import type { Step } from '@/contract/withdrawal'

/** By the time at which they begin. */
const ORDER: Record<Step, number> = {
  session_revocation: 1,
  user_profile: 2,
  third_party_integrations: 3,
  data_archives: 4,
}

/** A page may be older than the service, as in a rolling upgrade; such a step has its name for a title. */
export const isKnown = (step: string): step is Step => Object.hasOwn(ORDER, step)

/** In the order of time, unknown steps last. */
export const inOrder = <T extends { step: string }>(steps: readonly T[]): T[] =>
  [...steps].sort((a, b) => rank(a.step) - rank(b.step))

const rank = (step: string) => (isKnown(step) ? ORDER[step] : Number.MAX_SAFE_INTEGER)
