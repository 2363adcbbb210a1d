import { parseAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { lookUp as contract } from '@/contract/operator'
import { ownerOfTransaction } from '../applications/transactions'
import type { Context, SystemContext } from '../context'
import { managerOf } from '../manager'
import { sql, statement, text } from '../sql'
import { usersWithdrawnAs } from './ended-external-ids'
import { findAccount, findAccountByAddress, findAccountByExternalId } from './find-user'
import { noteLookUp } from './note-look-up'

/** Of an account that is withdrawn, until the purge. */
export const withdrawalOf = statement(
  'withdrawal-of-user',
  { userId: text },
  { id: text },
  (v) => sql`SELECT id FROM withdrawals WHERE user_id = ${v.userId}`,
)
const withdrawalById = statement(
  'withdrawal-by-id',
  { id: text },
  { id: text },
  (v) => sql`SELECT id FROM withdrawals WHERE id = ${v.id}`,
)

const appByIdOrName = statement(
  'app-by-id-or-name',
  { text },
  { id: text },
  (v) =>
    sql`SELECT id FROM connected_apps WHERE id = ${v.text} OR name = ${v.text} ORDER BY id = ${v.text} DESC, id LIMIT 1`,
)

/**
 * For the operator: finds a withdrawal id, user id, transaction id, address or external id, and an application by its id or its exact
 * name. An address finds only an active account. Its ids find a withdrawn account too, as its withdrawal, until the retention ends.
 */
export async function lookUp(ctx: SystemContext, given: string): Promise<Data<typeof contract> | null> {
  const [withdrawal] = await ctx.sql(withdrawalById, { id: given })
  if (withdrawal) return { kind: 'withdrawal', id: withdrawal.id }
  const text = (await ownerOfTransaction(ctx, given)) ?? given
  const account =
    (await findAccount(ctx, text)) ?? (await findByAddress(ctx, text)) ?? (await findAccountByExternalId(ctx, text))
  const userId = account?.id ?? (await usersWithdrawnAs(ctx, text))[0] ?? text
  const [ended] = await ctx.sql(withdrawalOf, { userId })
  if (ended) return { kind: 'withdrawal', id: ended.id }
  if (account) return { kind: 'user', id: account.id }
  const [app] = await ctx.sql(appByIdOrName, { text })
  return app ? { kind: 'app', id: app.id } : null
}

/** A sentence without its end, which says what to do. */
export const NOT_BY_ADDRESS = 'An account that is being deleted is not found by its address'

/** Of the admin API. A look at a person is noted before it is answered. */
export async function lookUpOf(ctx: Context, { text }: Input<typeof contract>): Promise<Data<typeof contract>> {
  const found = await lookUp(ctx, text.trim())
  if (!found)
    throw new AppError(
      'USER_001',
      text.includes('@')
        ? `No account has this address or id. ${NOT_BY_ADDRESS}: ask for the deletion ID in its mail.`
        : 'No deletion, account, transaction or application has this id, and no application has this name.',
    )
  const { kind, id } = managerOf(ctx)
  if (found.kind === 'user') await noteLookUp(ctx, { userId: found.id, actor: kind, actorId: id, ip: ctx.ip })
  return found
}

async function findByAddress(ctx: SystemContext, text: string) {
  const address = parseAddress(text)
  return address && findAccountByAddress(ctx, address.key)
}
