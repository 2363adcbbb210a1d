import { gzipSync } from 'node:zlib'
import { AppError } from '@/contract/errors'
import type { SystemContext } from '../context'
import { encrypt } from '../encryption'
import { unknownUser } from '../lock-account'
import { auditManager } from '../manager'
import type { ArchiveStore } from '../ports'
import { bytes, integer, json, openAccount, type RowOf, sql, statement, text, time } from '../sql'

const keyOf = statement(
  'archive-key',
  { userId: text },
  { sealed_key: bytes },
  (v) => sql`SELECT sealed_key FROM archive_keys WHERE user_id = ${v.userId}`,
)
const insertKey = statement(
  'create-archive-key',
  { userId: text, sealedKey: bytes, now: time },
  {},
  (v) => sql`INSERT INTO archive_keys (user_id, sealed_key, created_at) VALUES (${v.userId}, ${v.sealedKey}, ${v.now})
   ON CONFLICT (user_id) DO NOTHING`,
)
const collect = statement(
  'archive-content',
  { userId: text },
  { content: json.orNull },
  (v) => sql`SELECT json_build_object(
     'user', json_build_object('id', u.id, 'name', u.name, 'email', u.email, 'created_at', u.created_at),
     'profile', (SELECT to_json(p) FROM profiles p WHERE p.user_id = u.id),
     'preferences', (SELECT json_agg(p) FROM preferences p WHERE p.user_id = u.id),
     'transactions', (SELECT json_agg(t) FROM transactions t WHERE t.user_id = u.id)
   ) AS content
   FROM users u WHERE u.id = ${v.userId} AND u.withdrawn_at IS NULL`,
)

const insertArchive = statement(
  'record-archive',
  { id: text, userId: text, objectKey: text, bytes: integer, now: time },
  { id: text },
  (v) => sql`WITH account AS (${openAccount(v.userId)})
   INSERT INTO archives (id, user_id, object_key, bytes, created_at)
   SELECT ${v.id}, id, ${v.objectKey}, ${v.bytes}, ${v.now} FROM account
   RETURNING id`,
)
const markStored = statement(
  'mark-archive-stored',
  { id: text, now: time },
  { id: text },
  (v) => sql`UPDATE archives SET stored_at = ${v.now} WHERE id = ${v.id} RETURNING id`,
)
const archivesOfUser = statement(
  'archives-of-user',
  { userId: text.orNull },
  { id: text, object_key: text, stored_at: time.orNull, removing_at: time.orNull },
  (v) => sql`SELECT id, object_key, stored_at, removing_at FROM archives WHERE user_id = ${v.userId}`,
)
const markRemoving = statement(
  'mark-archives-removing',
  { ids: text.list, now: time },
  {},
  (v) => sql`UPDATE archives SET removing_at = ${v.now} WHERE id = ANY(${v.ids}::text[]) AND removing_at IS NULL`,
)
const withdrawnUser = statement(
  'withdrawn-user',
  { withdrawalId: text },
  { user_id: text.orNull },
  (v) => sql`SELECT user_id FROM withdrawals WHERE id = ${v.withdrawalId}`,
)

const deleteLost = statement(
  'delete-lost-archives',
  { ids: text.list },
  { id: text },
  (v) => sql`DELETE FROM archives WHERE id = ANY(${v.ids}::text[]) RETURNING id`,
)

type ArchiveRow = RowOf<typeof archivesOfUser>

/** Stores a compressed copy of the user's data, encrypted with the user's own key. */
export async function writeArchive(ctx: SystemContext, userId: string): Promise<string> {
  if (!ctx.archives) {
    throw new AppError('REQUEST_001', 'No archive store is configured: set ARCHIVE_S3_ENDPOINT or ARCHIVE_DIR.')
  }
  const [found] = await ctx.sql(collect, { userId })
  if (!found) throw unknownUser()
  const now = ctx.clock.now()
  await ctx.sql(insertKey, { userId, sealedKey: ctx.secrets.seal(ctx.secrets.randomKey()), now })
  const [row] = await ctx.sql(keyOf, { userId })
  const key = row && ctx.secrets.open(row.sealed_key)
  if (!key) throw new Error('no configured key opens the archive key of a user')
  const id = ctx.secrets.randomId('arc_')
  const content = encrypt(key, gzipSync(JSON.stringify(found.content)))
  const objectKey = `${id}.bin`
  // The row comes first, because an object without a row could never be deleted.
  const rows = await ctx.sql(insertArchive, { id, userId, objectKey, bytes: content.length, now })
  if (rows.length === 0) throw unknownUser()
  await ctx.archives.put(objectKey, content)
  const [stored] = await ctx.sql(markStored, { id, now: ctx.clock.now() })
  if (stored) return id
  // The account was withdrawn and its rows were erased while the object was written.
  await ctx.archives.delete(objectKey)
  throw unknownUser()
}

/**
 * Deletes the objects; the transaction that ends the step deletes the rows and the key. A stored object that is missing is an error,
 * because the store may be the wrong one and the data may still exist. See docs/decisions/0006.
 */
export async function deleteArchives(ctx: SystemContext, userId: string): Promise<void> {
  const rows = await ctx.sql(archivesOfUser, { userId })
  if (rows.length === 0) return
  const store = ctx.archives
  if (!store) throw failure('no_archive_store')
  const lost = await findLost(store, rows)
  const found = rows.filter((row) => !lost.includes(row))
  await ctx.sql(markRemoving, { ids: found.map(({ id }) => id), now: ctx.clock.now() })
  await Promise.all(found.map(({ object_key }) => store.delete(object_key)))
  if (lost.length > 0) throw failure('archive_missing')
}

/** The stored archives that no run has begun to delete and that the store does not have. */
async function findLost(store: ArchiveStore, rows: ArchiveRow[]): Promise<ArchiveRow[]> {
  const isLost = await Promise.all(
    rows.map(async (row) => row.stored_at && !row.removing_at && !(await store.exists(row.object_key))),
  )
  return rows.filter((_row, index) => isLost[index])
}

const failure = (code: string) => Object.assign(new Error(code), { code })

/** The archives of a withdrawal that are missing; without a store all of them are. */
export async function lostArchivesOf(ctx: SystemContext, withdrawalId: string): Promise<ArchiveRow[]> {
  const [withdrawal] = await ctx.sql(withdrawnUser, { withdrawalId })
  if (!withdrawal) throw new AppError('WITHDRAWAL_004')
  const rows = await ctx.sql(archivesOfUser, { userId: withdrawal.user_id })
  return ctx.archives ? findLost(ctx.archives, rows) : rows
}

/**
 * For an operator who knows that the missing archives of a withdrawal are lost for good: the step no longer waits for them. Returns how
 * many there were.
 */
export async function acceptLostArchives(ctx: SystemContext, withdrawalId: string): Promise<number> {
  const lost = await lostArchivesOf(ctx, withdrawalId)
  await ctx.transaction(async (tx) => {
    const deleted = await tx.sql(deleteLost, { ids: lost.map(({ id }) => id) })
    if (deleted.length > 0) await auditManager(tx, 'archive.loss_accepted', withdrawalId)
  })
  return lost.length
}
