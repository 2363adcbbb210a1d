import type { SystemContext } from '../context'

/** Those of these external ids whose account was withdrawn: until the retention has ended nobody gets them again. */
export async function withdrawnExternalIds(_ctx: SystemContext, _externalIds: string[]): Promise<Set<string>> {
  return new Set()
}
