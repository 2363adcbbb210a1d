import { AppError } from '@/contract/errors'
import type { LinkContext } from '../context'
import { networkOf, pseudonymousBucket, takePlaces } from '../limits/buckets'

/** One answer for every link of “This wasn’t me” that does not work: malformed, foreign, used, too old, or sent to another address. */
export const wrongLink = () => new AppError('EMAIL_006', 'This link does not work, or no longer works.')

/** Wrong tokens count for their client, so that they take no place of the right one. */
export async function refuseWrongLink(ctx: LinkContext): Promise<never> {
  await takePlaces(ctx, { take: [pseudonymousBucket(ctx, 'notMeAddress', networkOf(ctx.ip))] })
  throw wrongLink()
}
