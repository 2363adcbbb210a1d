import type { putUser as contract } from '@/contract/admin'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { AuditActor } from '../audit'
import type { Context, Transaction } from '../context'
import { type LockedAccount, lockForService } from '../lock-account'
import { acceptPassword } from '../passwords/password-formats'
import { sql, statement, text } from '../sql'
import { createAccount } from './create-account'
import { firstVersionOf } from './ended-external-ids'
import { describeWritten } from './find-user'
import { putDetails } from './put-details'
import { addressOf, localeOf, retryConflicts, updateAccount } from './update-account'

// One of 65,536 locks, so that the number of the lock does not reveal the external id. It is taken before all other locks.
const lockExternalId = statement(
  'lock-external-id',
  { externalId: text },
  {},
  (v) => sql`SELECT pg_advisory_xact_lock(20261124, hashtext(${v.externalId}) & 65535)`,
)
export async function putUser(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  if (input.old_mailbox && input.email === undefined) {
    throw new AppError('REQUEST_001', 'old_mailbox needs email, the address that replaces the one of the lost mailbox.')
  }
  const passwordHash = input.password ? acceptPassword(input.password) : null
  const by: AuditActor = { actor: 'service', ip: ctx.ip }
  return retryConflicts(() =>
    ctx.transaction(async (tx) => {
      await tx.sql(lockExternalId, { externalId: input.externalId })
      const { account, firstVersion } = await findToUpdate(tx, input)
      const userId = account?.id ?? (await create(tx, { ...input, firstVersion }, { passwordHash, by }))
      const hasNewDetails = await putDetails(tx, userId, input)
      if (account) await updateAccount(tx, account, { ...input, firstVersion, hasNewDetails }, by)
      return { ...(await describeWritten(tx, userId)), created: !account }
    }),
  )
}

interface Target {
  /** Undefined if there is none yet and one may be created. */
  account: LockedAccount | undefined
  /** The lowest version that the account may have from now on. */
  firstVersion: number
}

async function findToUpdate(tx: Transaction, input: Input<typeof contract>): Promise<Target> {
  const { externalId, user_id: userId, recreate = false } = input
  const account = await lockForService(tx, { externalId })
  if (account) {
    if (userId !== undefined && userId !== account.id) {
      throw new AppError('REQUEST_001', 'user_id names another account than the one that has this external ID.')
    }
    return { account, firstVersion: 0 }
  }
  const firstVersion = await firstVersionOf(tx, { externalId, recreate })
  if (userId === undefined) return { account, firstVersion }
  const named = await lockForService(tx, { userId })
  if (!named) throw new AppError('USER_001', 'There is no account with this user_id.')
  if (named.external_id !== null) {
    throw new AppError('REQUEST_001', 'user_id names an account that has another external ID.')
  }
  return { account: named, firstVersion }
}

async function create(
  tx: Transaction,
  input: Input<typeof contract> & Pick<Target, 'firstVersion'>,
  { passwordHash, by }: { passwordHash: string | null; by: AuditActor },
): Promise<string> {
  const { email, name } = input
  if (input.if_version !== undefined) {
    throw new AppError('USER_001', 'There is no account with this external ID, so that it has no version.')
  }
  if (input.old_mailbox) throw new AppError('REQUEST_001', 'old_mailbox is for an account that has another address.')
  if (email === undefined) throw new AppError('REQUEST_001', 'email is needed to create an account.')
  if (name === undefined) throw new AppError('REQUEST_001', 'name is needed to create an account.')
  const account = {
    externalId: input.externalId,
    name,
    address: addressOf(email),
    isVerified: input.email_verified ?? false,
    passwordHash,
    locale: localeOf(input) ?? null,
    firstVersion: input.firstVersion,
  }
  return createAccount(tx, account, by)
}
