import { createHash } from 'node:crypto'
import type { Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { exportData as contract } from '@/contract/export'
import { CATEGORIES, type Category } from '@/contract/vocabulary'
import { addAudit } from '../audit'
import type { Context, SystemContext } from '../context'
import type { Download, DownloadedDocument } from '../download'
import { bucketOf, takePlaces } from '../limits/buckets'
import { lockAccountOfId } from '../lock-account'
import { defineNotice, sealedFacts } from '../mail/define-notice'
import { addNotice } from '../mail/notice-queue'
import { requireFreshSignIn } from '../sessions/fresh-sign-in'
import { isStillLive } from '../sessions/live-caller'
import {
  type Described,
  fenced,
  identifier,
  integer,
  joined,
  NOTHING,
  type Statement,
  sql,
  statement,
  text,
} from '../sql'
import { DELETION_MAP } from './deletion-map'
import { type Erasure, type Exported, isOfUser } from './steps/deletion-step'

/** The text of one batch. Memory holds this much, and the record that exceeds it. */
const BATCH_BYTES = 250_000
const FIRST_BATCH = 50
const MAX_BATCH = 2_000

const READ_VALUES = {
  userId: text,
  /** The key of the last record that was read. */
  after: text,
  maxRows: integer,
}

/** One text instead of a row for each record, because rows stay in memory until the old generation is collected, which is rare. */
const READ_BATCH = {
  /** The key of the last record; null if none is left. */
  last: text.orNull,
  /** Each as JSON, with commas between them. */
  records: text.orNull,
  count: integer,
}

type Given = Extract<Exported, { members: object }>
type Readable = Statement<Described<typeof READ_VALUES>, Described<typeof READ_BATCH>>

/** The records after a key, in the order of the key, as many as fit into a batch. */
function readExported({ table, where }: Erasure, { members, by: key = sql`id`, isLarge }: Given): Readable {
  const pairs = joined(Object.entries(members).map(([name, column]) => sql`'${identifier(name)}', ${column}`))
  return statement(`read-exported-${table}`, READ_VALUES, READ_BATCH, (v) => {
    const ofUser = sql`SELECT * FROM ${identifier(table)} WHERE ${isOfUser(table, v.userId)} ${where ? sql`AND ${where}` : NOTHING}`
    // Without the fence the planner may read the primary key of all users instead of sorting the few rows of one.
    return sql`SELECT max(key) AS last, string_agg(record, E',\\n' ORDER BY key) AS records, count(*)::int AS count FROM (
       SELECT key, record, sum(octet_length(record)) OVER (ORDER BY key) - octet_length(record) AS before FROM (
         SELECT ${key} AS key, json_build_object(${pairs})::text AS record
         FROM (${isLarge ? ofUser : fenced(ofUser)}) AS of_user WHERE ${key} > ${v.after}
         ORDER BY ${key} LIMIT ${v.maxRows}
       ) AS batch
     ) AS measured WHERE before < ${BATCH_BYTES}`
  })
}

interface ExportedCategory {
  category: Category
  kind: Given['kind']
  statements: Readable[]
}

/** Every category that is part of the export. It comes from the deletion map, so the export has what an erasure deletes. */
export const EXPORTED: readonly ExportedCategory[] = CATEGORIES.flatMap((category) => {
  const entries = DELETION_MAP.flatMap((erasure) =>
    erasure.category === category && erasure.exported.kind !== 'never' ? [{ erasure, given: erasure.exported }] : [],
  )
  const kind = entries[0]?.given.kind
  return kind ? [{ category, kind, statements: entries.map(({ erasure, given }) => readExported(erasure, given)) }] : []
})

interface ExportFacts {
  /** Encrypted in the row, with the rest of the letter. */
  to: string
  userName: string
  /** Missing in rows of an older release. */
  hasPassword?: boolean
  at: Date
  ipAddress: string
  /** Missing in rows of an older release. */
  userAgent?: string
}

export const dataExported = defineNotice<ExportFacts, 'sealed'>({
  name: 'data_exported',
  ...sealedFacts<ExportFacts>(),
  message: (ctx, { userName, hasPassword = false, at, ipAddress, userAgent = '' }) => ({
    template: 'data-exported',
    userName,
    hasPassword,
    exportedAt: at,
    ipAddress,
    userAgent,
    settingsUrl: ctx.settingsUrl ?? `${ctx.appUrl}/settings/sessions`,
  }),
})

/** All of one's own data as a file. The address gets a notice, because an export is what a stolen session is worth most for. */
export async function exportData(ctx: Context, _input: Input<typeof contract>): Promise<Download> {
  const { userId, kind } = ctx.actor
  // A session needs the same fresh sign-in as for a withdrawal.
  requireFreshSignIn(ctx, 'withdraw')
  await takePlaces(ctx, { take: [bucketOf(contract, ctx, userId)] })
  const at = ctx.clock.now()
  await ctx.transaction(async (tx) => {
    const account = await lockAccountOfId(tx, userId)
    if (!account || !(await isStillLive(tx, tx.actor))) throw new AppError('AUTH_001')
    const { email: to, name: userName, has_password: hasPassword, locale } = account
    await Promise.all([
      addAudit(tx, 'data.exported', { userId, actor: kind, ip: tx.ip, at }),
      addNotice(
        tx,
        dataExported,
        { userId, locale, recipients: ['sealed'], at },
        { to, userName, hasPassword, at, ipAddress: tx.ip, userAgent: tx.userAgent },
      ),
    ])
  })
  return { fileName: `account-data-${at.toISOString().slice(0, 10)}.zip`, documents: documentsOf(ctx, userId, at) }
}

/** One document for each category; the manifest comes last, because it lists them. */
function documentsOf(ctx: SystemContext, userId: string, at: Date): DownloadedDocument[] {
  const entries: object[] = []
  const documents = EXPORTED.map(({ category, kind, statements }) => {
    const name = `${category}.json`
    return {
      name,
      at,
      async *read() {
        const hash = createHash('sha256')
        let records = 0
        for await (const { text, count } of textOf(ctx, userId, statements)) {
          const bytes = Buffer.from(text)
          hash.update(bytes)
          records += count
          yield bytes
        }
        entries.push({ category, file: name, kind, records, sha256: hash.digest('hex') })
      },
    }
  })
  const manifest = {
    name: 'manifest.json',
    at,
    async *read() {
      yield Buffer.from(`${JSON.stringify({ created_at: at.toISOString(), categories: entries }, null, 2)}\n`)
    },
  }
  return [...documents, manifest]
}

/** A JSON array in pieces. */
async function* textOf(ctx: SystemContext, userId: string, statements: readonly Readable[]) {
  let opening = '[\n'
  for (const statement of statements) {
    for await (const { records, count } of batchesOf(ctx, userId, statement)) {
      yield { text: opening + records, count }
      opening = ',\n'
    }
  }
  yield { text: opening === '[\n' ? '[]\n' : '\n]\n', count: 0 }
}

async function* batchesOf(
  ctx: SystemContext,
  userId: string,
  statement: Readable,
): AsyncGenerator<Described<typeof READ_BATCH>> {
  for (let after = '', maxRows = FIRST_BATCH; ; ) {
    const [batch] = await ctx.sql(statement, { userId, after, maxRows })
    if (!batch?.last) return
    yield batch
    after = batch.last
    // Reading rows that do not fit would be a waste.
    maxRows = Math.min(2 * batch.count, MAX_BATCH)
  }
}
