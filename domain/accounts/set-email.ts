import type { putUser } from '@/contract/admin'
import type { Data } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { beginDueDeliveries } from '../applications/deliveries'
import type { SystemContext } from '../context'
import { lockAccountOfId } from '../lock-account'
import { describeAccount, findAccount } from './find-user'
import { retryConflicts, updateAccount } from './put-user'

interface Wanted {
  userId: string
  email: string
  /** Somebody else reads the mailbox of the address that is replaced. */
  oldMailbox?: 'lost' | undefined
  ifVersion?: number | undefined
}

/** For the operator: a verified change, as a service makes it. The sweep of a running service sends the messages. */
export async function setEmail(
  ctx: SystemContext,
  { userId, email, oldMailbox, ifVersion }: Wanted,
): Promise<Omit<Data<typeof putUser>, 'created'>> {
  const data = await retryConflicts(() =>
    ctx.transaction(async (sql) => {
      const account = await lockAccountOfId(sql, userId)
      if (!account) throw new AppError('REQUEST_001', 'There is no active user with this id.')
      const wanted = { externalId: account.external_id, email, old_mailbox: oldMailbox, if_version: ifVersion }
      await updateAccount(ctx, sql, account, wanted, { kind: 'operator', id: null, ip: '' })
      const written = await findAccount(ctx, userId, sql)
      if (!written) throw new Error('the account that was written is there')
      return describeAccount(ctx, written)
    }),
  )
  ctx.background(() => beginDueDeliveries(ctx))
  return data
}
