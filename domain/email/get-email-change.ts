import type { Data, Input } from '@/contract/define'
import type { getEmailChange as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import type { LinkContext } from '../context'
import { networkOf } from '../limits/buckets'
import { takeReadPlaceOf } from '../limits/reads'
import { findRequest } from './get-email-status'

/** The id has 128 random bits, which the caller, the links and the audit know. The state alone is told, and not whose change it is. */
export async function getEmailChange(
  ctx: LinkContext,
  { changeRequestId: changeId }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  takeReadPlaceOf(ctx, networkOf(ctx.ip))
  const request = await findRequest(ctx, { changeId, userId: null })
  if (!request) throw new AppError('EMAIL_006', 'There is no change request with this ID.')
  return { change_request_id: changeId, status: request.status }
}
