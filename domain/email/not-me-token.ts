import type { AnyContext } from '../context'
import { derivedToken } from '../derived-token'

export const { create: createNotMeToken, isOf: isNotMeTokenOf } = derivedToken('nme_', 'not-me')

/** Sent only to the old address. The token is in the fragment, which no browser sends to a server. */
export const notMeUrl = (ctx: AnyContext, changeRequestId: string): string =>
  `${ctx.appUrl}/not-me#change=${changeRequestId}&token=${createNotMeToken(ctx, changeRequestId)}`
