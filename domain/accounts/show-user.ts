import { parseAddress } from '@/contract/address'
import { AppError } from '@/contract/errors'
import type { SystemContext } from '../context'
import {
  type AccountRow,
  describeAccount,
  findAccount,
  findAccountByAddress,
  findAccountByExternalId,
} from './find-user'
import { noteLookUp } from './note-look-up'

type Wanted = { userId: string } | { email: string } | { externalId: string }

/** For the operator. Finds a withdrawn account by its ids until `user_profile` has run, but not by its address. */
export async function showUser(ctx: SystemContext, by: Wanted): Promise<object> {
  const account = await findWanted(ctx, by)
  await noteLookUp(ctx, { userId: account.id, actor: 'operator', actorId: null, ip: null })
  const { user_id, email, email_verified, ...others } = describeAccount(ctx, account)
  const verified_at = account.email_verified_at?.toISOString() ?? null
  return { user_id, email, email_verified, verified_at, role: account.role, ...others }
}

async function findWanted(ctx: SystemContext, by: Wanted): Promise<AccountRow> {
  if ('userId' in by) return known(await findAccount(ctx, by.userId), 'There is no user with this id.')
  if ('externalId' in by) {
    const found = await findAccountByExternalId(ctx, by.externalId)
    return known(found, 'There is no user with this external id.')
  }
  const address = parseAddress(by.email)
  if (!address) throw new AppError('EMAIL_001', 'The address must be one plain address, such as ada@example.com.')
  return known(await findAccountByAddress(ctx, address.key), 'There is no active user with this address.')
}

function known(account: AccountRow | null, sentence: string): AccountRow {
  if (!account) throw new AppError('REQUEST_001', sentence)
  return account
}
