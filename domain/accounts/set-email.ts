import { parseNewAddress } from '@/contract/address'
import type { putUser } from '@/contract/admin'
import type { Data } from '@/contract/define'
import type { SystemContext } from '../context'
import { requireAccountOfId } from '../lock-account'
import { describeWritten } from './find-user'
import { retryConflicts, updateAccount } from './update-account'
import { notAnAddress } from './user'

interface NewAddress {
  userId: string
  email: string
  /** Somebody else reads the mailbox of the address that is replaced. */
  oldMailbox?: 'lost' | undefined
  ifVersion?: number | undefined
}

/** For the operator: a verified change, as a service makes it. The sweep of a running service sends the messages. */
export async function setEmail(
  ctx: SystemContext,
  { userId, email, oldMailbox, ifVersion }: NewAddress,
): Promise<Omit<Data<typeof putUser>, 'created'>> {
  if (!parseNewAddress(email)) throw notAnAddress()
  return retryConflicts(() =>
    ctx.transaction(async (tx) => {
      const account = await requireAccountOfId(tx, userId)
      const wanted = { externalId: account.external_id, email, old_mailbox: oldMailbox, if_version: ifVersion }
      await updateAccount(tx, account, wanted, { actor: 'operator', ip: '' })
      return describeWritten(tx, userId)
    }),
  )
}
