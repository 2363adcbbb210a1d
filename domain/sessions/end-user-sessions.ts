import type { endUserSessions as contract } from '@/contract/admin'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { addEvent } from '../applications/events'
import { addAudit } from '../audit'
import type { Context } from '../context'
import { lockForService } from '../lock-account'
import { noteIncident } from '../security-incidents'
import { endAccess } from './end-access'

export const endUserSessions = (ctx: Context, { externalId }: Input<typeof contract>): Promise<Data<typeof contract>> =>
  ctx.transaction(async (tx) => {
    const account = await lockForService(tx, { externalId })
    if (!account) throw new AppError('USER_001')
    const { id: userId } = account
    // Read the clock under the lock, so that a session started while this call waited ends too.
    const at = tx.clock.now()
    const [ended] = await Promise.all([
      endAccess(tx, { userId, at, ends: ['sessions', 'access_tokens', 'outside_tokens'] }),
      addEvent(tx, 'account.sessions_ended', { userId, at }),
      addAudit(tx, 'access.all_ended', { userId, actor: 'service', ip: tx.ip, at }),
      noteIncident(tx, 'sessions_ended', { userId }),
    ])
    return { user_id: userId, sessions_ended: ended.sessions, tokens_ended: ended.tokens }
  })
