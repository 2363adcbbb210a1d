import { parseAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { lookUp as contract } from '@/contract/operator'
import { MAY_BE_GONE } from '@/contract/words'
import { ownerOfTransaction } from '../applications/transactions'
import type { Context, SystemContext } from '../context'
import { NO_ACCOUNT } from '../lock-account'
import { type ManagerContext, managerOf } from '../manager'
import { boolean, integer, type Part, sql, statement, text } from '../sql'
import { usersWithdrawnAs } from './ended-external-ids'
import { findAccount, findAccountByAddress, findAccountByExternalId, noteLookUp } from './find-user'

/** Of an account that is withdrawn, until the purge. */
export const withdrawalOf = statement(
  'withdrawal-of-user',
  { userId: text },
  { id: text, is_over: boolean },
  (v) => sql`SELECT id, completed_at IS NOT NULL AS is_over FROM withdrawals WHERE user_id = ${v.userId}`,
)
/** By its own id, or by that of one of its deletion tasks. */
const withdrawalById = statement(
  'withdrawal-by-id',
  { id: text },
  { id: text },
  (v) => sql`SELECT id FROM withdrawals WHERE id = ${v.id}
   UNION ALL SELECT withdrawal_id FROM deletion_tasks WHERE id = ${v.id}`,
)

const hasIdPrefix = (column: Part, v: { start: Part; end: Part }) =>
  sql`${column} BETWEEN ${v.start} AND ${v.end} AND starts_with(${column}, ${v.start})`
const readIdsByPrefix = statement(
  'ids-of-prefix',
  { start: text, end: text, maxRows: integer },
  { id: text },
  (v) => sql`SELECT id FROM withdrawals WHERE ${hasIdPrefix(sql`id`, v)}
   UNION SELECT id FROM users WHERE ${hasIdPrefix(sql`id`, v)}
   UNION SELECT user_id FROM withdrawals WHERE ${hasIdPrefix(sql`user_id`, v)}
   UNION SELECT id FROM connected_apps WHERE ${hasIdPrefix(sql`id`, v)}
   UNION SELECT id FROM transactions WHERE ${hasIdPrefix(sql`id`, v)}
   ORDER BY id LIMIT ${v.maxRows}`,
)

/** The id of a deletion task begins as that of its withdrawal goes on. A table that is too narrow for an id ends it with “…”. */
const ID_PREFIX = /^(?:(usr|app|txn)|wd|msg)_([\w-]{6,22})((?<=^msg_.{22})_[\w-]{0,26})?(?:…|\.{3})?$/

/** The ids of withdrawals, accounts, applications and transactions that begin so, from six characters after the prefix on. */
async function findIdsByPrefix(ctx: ManagerContext, given: string): Promise<string[]> {
  const [, kind = 'wd', rest] = ID_PREFIX.exec(given) ?? []
  if (!rest) return []
  const start = `${kind}_${rest}`
  // No id has a longer or a later end, whether the database sorts by bytes or by letters.
  const end = start + 'z'.repeat(22)
  return (await ctx.sql(readIdsByPrefix, { start, end, maxRows: MAX_MATCHES + 1 })).map(({ id }) => id)
}

const TOO_SHORT = 'Type at least six characters of the ID after its prefix.'
export const isTooShort = (given: string) => /^(?:wd|usr|msg|app|txn)_.{0,5}?(?:…|\.{3})?$/.test(given)

/** For the command: the id that begins so; several are refused, and what begins none is left to the verb. */
export async function wholeIdOf(ctx: SystemContext, given: string): Promise<string> {
  if (isTooShort(given)) throw new AppError('REQUEST_001', TOO_SHORT)
  const ids = await findIdsByPrefix(ctx, given)
  if (ids.length > 1) throw new AppError('REQUEST_001', refusalOfSeveral('IDs', ids, 'ID'))
  return ids[0] ?? given
}

/** More names or ids are not listed. */
const MAX_MATCHES = 5
// An empty text begins no name.
const appsCalled = statement(
  'apps-called',
  { text, maxRows: integer },
  { id: text, name: text, is_exact: boolean },
  (v) => sql`SELECT id, name, id = ${v.text} OR lower(name) = lower(${v.text}) AS is_exact FROM connected_apps
   WHERE id = ${v.text} OR (${v.text} <> '' AND strpos(lower(' ' || name), lower(' ' || ${v.text})) > 0)
   ORDER BY id = ${v.text} DESC, name = ${v.text} DESC, is_exact DESC, name, id LIMIT ${v.maxRows}`,
)

/**
 * Finds a withdrawal by its id or that of a deletion task, an account by its id, a transaction, its address or its external id, and an
 * application by its id or name; for an operator also by the beginning of an id, a name or a word of it, where no other begins so. An address
 * finds only an active account. Its ids find a withdrawn account too, as its withdrawal, until the retention ends.
 */
export async function lookUp(ctx: ManagerContext, given: string): Promise<Data<typeof contract> | null> {
  const found = await lookUpWhole(ctx, given)
  if (found || !acceptsPrefixes(ctx)) return found
  const [id, other] = await findIdsByPrefix(ctx, given)
  return id && !other ? lookUpWhole(ctx, id) : null
}

async function lookUpWhole(ctx: ManagerContext, given: string): Promise<Data<typeof contract> | null> {
  const [withdrawal] = await ctx.sql(withdrawalById, { id: given })
  if (withdrawal) return { kind: 'withdrawal', id: withdrawal.id }
  const text = (await ownerOfTransaction(ctx, given)) ?? given
  const account =
    (await findAccount(ctx, text)) ?? (await findByAddress(ctx, text)) ?? (await findAccountByExternalId(ctx, text))
  const userId = account?.id ?? (await usersWithdrawnAs(ctx, text))[0] ?? text
  const [ended] = await ctx.sql(withdrawalOf, { userId })
  if (ended) return { kind: 'withdrawal', id: ended.id }
  if (account) return { kind: 'user', id: account.id }
  const [app, other] = await ctx.sql(appsCalled, { text, maxRows: 2 })
  return app && (app.is_exact || (!other && acceptsPrefixes(ctx))) ? { kind: 'app', id: app.id } : null
}

/** The id that a service asks for may begin like the name of an application. */
const acceptsPrefixes = (ctx: ManagerContext) => managerOf(ctx).kind === 'operator'

/** A sentence without its end, which says what to do. */
export const NOT_BY_ADDRESS =
  'An account that is being deleted is not found by its address, but by its deletion ID, which is in the link of the mail about it, by its account ID or by your own ID of the person'

/** Of the admin API. A look at a person is noted before it is answered. */
export async function lookUpOf(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const text = input.text.trim()
  const found = await lookUp(ctx, text)
  if (!found) throw new AppError('USER_001', await whyNothing(ctx, text))
  const { kind, actorId } = managerOf(ctx)
  if (found.kind === 'user') await noteLookUp(ctx, { userId: found.id, actor: kind, actorId, ip: ctx.ip })
  return found
}

const refusalOfSeveral = (what: string, matches: string[], part: string) =>
  matches.length > MAX_MATCHES
    ? `More than ${MAX_MATCHES} ${what} begin so. Type more of the ${part}.`
    : `Several ${what} begin so: ${matches.join(', ')}. Type more of the ${part}.`

export async function whyNothing(ctx: ManagerContext, text: string): Promise<string> {
  if (acceptsPrefixes(ctx)) {
    const ids = await findIdsByPrefix(ctx, text)
    if (ids.length > 0) return refusalOfSeveral('IDs', ids, 'ID')
    const apps = await ctx.sql(appsCalled, { text, maxRows: MAX_MATCHES + 1 })
    if (apps.length > 0)
      return refusalOfSeveral(
        'apps',
        apps.map(({ name }) => name),
        'name',
      )
  }
  if (parseAddress(text)) return `${NO_ACCOUNT} ${NOT_BY_ADDRESS}.`
  if (isTooShort(text)) return TOO_SHORT
  if (acceptsPrefixes(ctx) && /^(usr|wd)_/.test(text)) return `No deletion or account has this ID. ${MAY_BE_GONE}`
  return 'No deletion, account, transaction or app has this ID, and no app has this name. A person is found by ID or address.'
}

async function findByAddress(ctx: SystemContext, text: string) {
  const address = parseAddress(text)
  return address && findAccountByAddress(ctx, address.key)
}
