import type { SystemContext } from './context'
import { mapConcurrently } from './map-concurrently'
import { bytes, type Described, identifier, integer, sql, statement, text } from './sql'

interface Sealed {
  table: string
  key: string
  column: string
}

/** Every column whose content is sealed with CODE_SECRET. A column of bytes that is missing here fails a test. */
export const SEALED = {
  application_secrets: { table: 'connected_apps', key: 'id', column: 'sealed_secret' },
  previous_application_secrets: { table: 'connected_apps', key: 'id', column: 'sealed_previous_secret' },
  event_data: { table: 'event_deliveries', key: 'id', column: 'sealed_data' },
  withdrawal_subjects: { table: 'withdrawals', key: 'id', column: 'sealed_subjects' },
  task_subjects: { table: 'deletion_tasks', key: 'id', column: 'sealed_subject' },
  task_accounts: { table: 'deletion_tasks', key: 'id', column: 'sealed_account' },
  archive_keys: { table: 'archive_keys', key: 'user_id', column: 'sealed_key' },
  withdrawal_confirmations: { table: 'notices', key: 'id', column: 'sealed' },
  link_requests: { table: 'link_requests', key: 'id', column: 'sealed' },
  signing_keys: { table: 'signing_keys', key: 'kid', column: 'sealed_private' },
  idempotency_answers: { table: 'idempotency_keys', key: 'key', column: 'answer' },
} as const satisfies Record<string, Sealed>

type SealedKind = keyof typeof SEALED

interface ResealCounts {
  resealed: number
  already_newest: number
  /** No configured secret opens it. */
  unopenable: number
}

const SEALED_ROW = { key: text, sealed: bytes.orNull }

const BATCH_SIZE = 500
/** Each of these updates uses a connection. */
const MAX_CONCURRENT_UPDATES = 8

const statements = (Object.entries(SEALED) as [SealedKind, Sealed][]).map(([kind, of]) => {
  const [table, key, column] = [identifier(of.table), identifier(of.key), identifier(of.column)]
  return {
    kind,
    readBatch: statement(
      `sealed-${kind}`,
      { after: text, maxRows: integer },
      SEALED_ROW,
      (v) => sql`SELECT ${key} AS key, ${column} AS sealed FROM ${table}
     WHERE ${key} > ${v.after} AND ${column} IS NOT NULL
     ORDER BY ${key} LIMIT ${v.maxRows}`,
    ),
    readOne: statement(
      `sealed-one-of-${kind}`,
      { key: text },
      SEALED_ROW,
      (v) => sql`SELECT ${key} AS key, ${column} AS sealed FROM ${table} WHERE ${key} = ${v.key}`,
    ),
    // One row per statement, so that it never holds one row while it waits for another.
    replace: statement(
      `reseal-${kind}`,
      { key: text, sealed: bytes, resealed: bytes },
      { key: text },
      (v) => sql`UPDATE ${table} SET ${column} = ${v.resealed} WHERE ${key} = ${v.key} AND ${column} = ${v.sealed}
     RETURNING ${key} AS key`,
    ),
  }
})

type Statements = (typeof statements)[number]

/**
 * Encrypts every sealed column with the newest secret while the service runs. Each row is committed by itself, so a killed run can
 * be started again. A run that counts no `resealed` and no `unopenable` proves that no older secret is needed.
 */
export async function resealSecrets(ctx: SystemContext, batch = BATCH_SIZE): Promise<Record<SealedKind, ResealCounts>> {
  const counted: [SealedKind, ResealCounts][] = []
  for (const each of statements) counted.push([each.kind, await resealKind(ctx, each, batch)])
  return Object.fromEntries(counted) as Record<SealedKind, ResealCounts>
}

async function resealKind(ctx: SystemContext, of: Statements, batch: number): Promise<ResealCounts> {
  const counts: ResealCounts = { resealed: 0, already_newest: 0, unopenable: 0 }
  for (let after = ''; ; ) {
    const rows = await ctx.sql(of.readBatch, { after, maxRows: batch })
    const outcomes = await mapConcurrently(rows, MAX_CONCURRENT_UPDATES, (row) => resealRow(ctx, of, row))
    for (const outcome of outcomes) if (outcome) counts[outcome]++
    if (rows.length < batch) return counts
    after = rows.at(-1)?.key ?? ''
  }
}

/** Null if the row or its content was deleted meanwhile. */
async function resealRow(
  ctx: SystemContext,
  of: Statements,
  { key, sealed }: Described<typeof SEALED_ROW>,
): Promise<keyof ResealCounts | null> {
  if (!sealed) return null
  if (ctx.secrets.isSealedWithNewest(sealed)) return 'already_newest'
  const content = ctx.secrets.open(sealed)
  if (!content) return 'unopenable'
  const replaced = await ctx.sql(of.replace, { key, sealed, resealed: ctx.secrets.seal(content) })
  if (replaced.length > 0) return 'resealed'
  // The service has written the row meanwhile, so read it again.
  const [now] = await ctx.sql(of.readOne, { key })
  return now ? resealRow(ctx, of, now) : null
}
