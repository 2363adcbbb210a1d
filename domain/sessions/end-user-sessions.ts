import type { endAccountSessions as byId, endUserSessions as contract } from '@/contract/admin'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { addEvent } from '../applications/events'
import type { Context } from '../context'
import { lockForService } from '../lock-account'
import { auditOnAccount } from '../manager'
import { noteIncident } from '../security-incidents'
import { endAccess } from './end-access'

export const endUserSessions = (ctx: Context, { externalId }: Input<typeof contract>): Promise<Data<typeof contract>> =>
  endAll(ctx, { externalId })

/** For operators, who know the account by its own id. */
export const endAccountSessions = (ctx: Context, { user_id: userId }: Input<typeof byId>): Promise<Data<typeof byId>> =>
  endAll(ctx, { userId })

const endAll = (ctx: Context, of: Parameters<typeof lockForService>[1]): Promise<Data<typeof contract>> =>
  ctx.transaction(async (tx) => {
    const account = await lockForService(tx, of)
    if (!account) throw new AppError('USER_001')
    const { id: userId } = account
    // Read the clock under the lock, so that a session started while this call waited ends too.
    const at = tx.clock.now()
    const [ended] = await Promise.all([
      endAccess(tx, { userId, at, ends: ['sessions', 'access_tokens', 'outside_tokens'] }),
      addEvent(tx, 'account.sessions_ended', { userId, at }),
      auditOnAccount(tx, 'access.all_ended', { userId }),
      noteIncident(tx, 'sessions_ended', { userId }),
    ])
    return { user_id: userId, sessions_ended: ended.sessions, tokens_ended: ended.tokens }
  })
