import { maskAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import type { getNotMe as contract } from '@/contract/email'
import type { LinkContext } from '../context'
import { STOP_CHANGE_MS } from '../limits/durations'
import { undoWindowEnd } from '../limits/held-addresses'
import { takeReadPlaceOf } from '../limits/reads'
import { isExhausted, isExpired } from '../pending-change'
import { requireNotMeToken, requireUndoableChange } from './not-me'

/** What the link's page shows before its button is pressed. Reading it takes no place in the limit of presses. */
export async function getNotMe(
  ctx: LinkContext,
  { changeRequestId: changeId }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  await requireNotMeToken(ctx, changeId)
  const change = await requireUndoableChange(ctx, changeId)
  // After the check, so that a link that no longer works is answered like a wrong one, without limit headers.
  takeReadPlaceOf(ctx, changeId)
  const { status, closed_at: changedAt, requested_at: requestedAt } = change
  const endsAt = changedAt ? undoWindowEnd(ctx, changedAt).getTime() : requestedAt.getTime() + STOP_CHANGE_MS
  return {
    change_request_id: changeId,
    status,
    old_email: change.old_email,
    new_email: maskAddress(change.new_email),
    changed_to: changedAt && change.new_email,
    requested_at: requestedAt.toISOString(),
    expires_at: change.expires_at.toISOString(),
    can_be_verified: !changedAt && !isExhausted(ctx, change) && !isExpired(ctx, { expiresAt: change.expires_at }),
    changed_at: changedAt?.toISOString() ?? null,
    ip_address: change.closed_ip ?? change.request_ip,
    user_agent: (changedAt ? change.closed_user_agent : change.request_user_agent) ?? '',
    has_password: change.password_hash !== null,
    works_until: new Date(endsAt).toISOString(),
  }
}
