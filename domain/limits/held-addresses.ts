import type { SystemContext } from '../context'

/** An address that was replaced after this time is held for its account, because the change can still be undone. */
export const heldSince = ({ limits }: SystemContext, now: Date): Date => new Date(now.getTime() - limits.undoWindowMs)
