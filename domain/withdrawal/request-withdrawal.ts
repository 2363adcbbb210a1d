import type { Data, Input } from '@/contract/define'
import type { requestWithdrawal as contract } from '@/contract/withdrawal-request'
import type { LinkContext } from '../context'
import { requestLink } from '../mail/request-link'

/** For people who cannot sign in: a mailed link deletes the account. */
export const requestWithdrawal = (
  ctx: LinkContext,
  { email }: Input<typeof contract>,
): Promise<Data<typeof contract>> => requestLink(ctx, 'withdrawal_requested', email)
