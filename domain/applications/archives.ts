import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { AppError } from '@/contract/errors'
import { type SystemContext, statement } from '../context'
import { encrypt } from '../encryption'
import type { ArchiveStore } from '../ports'

const keyOf = statement('archive-key', 'SELECT sealed_key FROM archive_keys WHERE user_id = $1')
const insertKey = statement(
  'create-archive-key',
  'INSERT INTO archive_keys (user_id, sealed_key, created_at) VALUES ($1, $2, $3) ON CONFLICT (user_id) DO NOTHING',
)
const collect = statement(
  'archive-content',
  `SELECT json_build_object(
     'user', json_build_object('id', u.id, 'name', u.name, 'email', u.email, 'created_at', u.created_at),
     'profile', (SELECT to_json(p) FROM profiles p WHERE p.user_id = u.id),
     'preferences', (SELECT json_agg(p) FROM preferences p WHERE p.user_id = u.id),
     'transactions', (SELECT json_agg(t) FROM transactions t WHERE t.user_id = u.id)
   ) AS content
   FROM users u WHERE u.id = $1 AND u.withdrawn_at IS NULL`,
)
const insertArchive = statement(
  'record-archive',
  `INSERT INTO archives (id, user_id, object_key, bytes, created_at)
   SELECT $1, id, $3, $4, $5 FROM users WHERE id = $2 AND withdrawn_at IS NULL FOR SHARE
   RETURNING id`,
)
const markStored = statement('mark-archive-stored', 'UPDATE archives SET stored_at = $2 WHERE id = $1 RETURNING id')
const archivesOfUser = statement(
  'archives-of-user',
  'SELECT id, object_key, stored_at, removing_at FROM archives WHERE user_id = $1',
)
const markRemoving = statement(
  'mark-archives-removing',
  'UPDATE archives SET removing_at = $2 WHERE id = ANY($1::text[]) AND removing_at IS NULL',
)
const withdrawnUser = statement('withdrawn-user', 'SELECT user_id FROM withdrawals WHERE id = $1')
const forgetLost = statement(
  'forget-lost-archives',
  `WITH lost AS (DELETE FROM archives WHERE id = ANY($1::text[]) RETURNING id)
   INSERT INTO audit_events (id, user_id, action, actor, subject_id, at)
   SELECT $2, $3, 'archive.loss_accepted', 'operator', $4, $5 WHERE EXISTS (SELECT FROM lost)`,
)

interface ArchiveRow {
  id: string
  object_key: string
  stored_at: Date | null
  removing_at: Date | null
}

/** A compressed copy of the user's data in the archive store, readable with the user's own key alone. */
export async function writeArchive(ctx: SystemContext, userId: string): Promise<string> {
  if (!ctx.archives) {
    throw new AppError('REQUEST_001', 'No archive store is configured: set ARCHIVE_S3_ENDPOINT or ARCHIVE_DIR.')
  }
  const [found] = await ctx.sql<{ content: unknown }>(collect, [userId])
  if (!found) throw new AppError('REQUEST_001', 'There is no active user with this id.')
  const now = ctx.clock.now()
  await ctx.sql(insertKey, [userId, ctx.secrets.seal(randomBytes(32)), now])
  const [row] = await ctx.sql<{ sealed_key: Buffer }>(keyOf, [userId])
  const key = row && ctx.secrets.open(row.sealed_key)
  if (!key) throw new Error('no configured key opens the archive key of a user')
  const id = ctx.secrets.randomId('arc_')
  const content = encrypt(key, gzipSync(JSON.stringify(found.content)))
  const objectKey = `${id}.bin`
  // The row first: an object that no row names could never be deleted.
  const rows = await ctx.sql(insertArchive, [id, userId, objectKey, content.length, now])
  if (rows.length === 0) throw new AppError('REQUEST_001', 'There is no active user with this id.')
  await ctx.archives.put(objectKey, content)
  const [stored] = await ctx.sql(markStored, [id, ctx.clock.now()])
  if (stored) return id
  // The account was withdrawn and its rows were erased while the object was being written.
  await ctx.archives.delete(objectKey)
  throw new AppError('REQUEST_001', 'There is no active user with this id.')
}

/**
 * Deletes the objects; the rows, and with them the key, go in the transaction that ends the step. An object that was stored and is
 * not there is an error: the store may be the wrong one, and the data still somewhere. See docs/decisions/0006.
 */
export async function deleteArchives(ctx: SystemContext, userId: string): Promise<void> {
  const rows = await ctx.sql<ArchiveRow>(archivesOfUser, [userId])
  if (rows.length === 0) return
  const store = ctx.archives
  if (!store) throw failure('no_archive_store')
  const lost = await findLost(store, rows)
  const found = rows.filter((row) => !lost.includes(row))
  await ctx.sql(markRemoving, [found.map(({ id }) => id), ctx.clock.now()])
  await Promise.all(found.map(({ object_key }) => store.delete(object_key)))
  if (lost.length > 0) throw failure('archive_missing')
}

/** Those that were stored, that no run has begun to delete, and that are not in the store. */
async function findLost(store: ArchiveStore, rows: ArchiveRow[]): Promise<ArchiveRow[]> {
  const isLost = await Promise.all(
    rows.map(async (row) => row.stored_at && !row.removing_at && !(await store.exists(row.object_key))),
  )
  return rows.filter((_row, index) => isLost[index])
}

const failure = (code: string) => Object.assign(new Error(code), { code })

/**
 * The operator knows that the missing archives of a withdrawal are gone for good: their step no longer waits for them.
 * Without a store these are all of them. Returns how many.
 */
export async function acceptLostArchives(
  ctx: SystemContext,
  withdrawalId: string,
  operatorId = 'operator-command',
): Promise<number> {
  const [withdrawal] = await ctx.sql<{ user_id: string | null }>(withdrawnUser, [withdrawalId])
  if (!withdrawal) throw new AppError('WITHDRAWAL_004')
  const rows = await ctx.sql<ArchiveRow>(archivesOfUser, [withdrawal.user_id])
  const lost = ctx.archives ? await findLost(ctx.archives, rows) : rows
  const auditId = ctx.secrets.randomId('aud_')
  await ctx.sql(forgetLost, [lost.map(({ id }) => id), auditId, operatorId, withdrawalId, ctx.clock.now()])
  return lost.length
}
