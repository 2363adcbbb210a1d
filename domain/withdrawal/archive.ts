import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { AppError } from '@/contract/errors'
import { type SystemContext, statement } from '../context'
import { encrypt } from '../encryption'

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
const objectKeys = statement('archives-of-user', 'SELECT object_key FROM archives WHERE user_id = $1')

/** A compressed copy of the user's data in the archive store, readable with the user's own key alone. */
export async function writeArchive(ctx: SystemContext, userId: string): Promise<string> {
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
  return id
}

/** The objects; the rows, and with them the key, go in the transaction that ends the step. */
export async function deleteArchives(ctx: SystemContext, userId: string): Promise<void> {
  const rows = await ctx.sql<{ object_key: string }>(objectKeys, [userId])
  await Promise.all(rows.map(({ object_key }) => ctx.archives.delete(object_key)))
}
