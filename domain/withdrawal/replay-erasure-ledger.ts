import { withoutMark } from '../accounts/mark-accounts'
import type { SystemContext } from '../context'
import { keyIdsOf, ledgerMarkOfPseudonym, MARKS, marksOf } from '../pseudonyms'
import { boolean, integer, sql, statement, text } from '../sql'
import { type AdoptedLine, adoptLedger, nameOfGap } from './ledger/adopt-erasure-ledger'
import { compareWithLedger } from './ledger/compare-with-ledger'
import { readLedgerHead, type StoredEnd, writeErasureLedger } from './ledger/erasure-ledger'
import { type LedgerReading, newReading, type ReadLine, readLedger } from './ledger/read-erasure-ledger'
import { withdrawAgain } from './withdraw-account'

const BATCH_SIZE = 1000
/** One pass over all users serves so many lines. */
const MAX_LINES_IN_MEMORY = 50_000

const markedUsers = statement(
  'users-of-marks',
  { marks: text.list },
  { id: text, ledger_mark: text },
  (v) => sql`SELECT id, ledger_mark FROM users WHERE ledger_mark = ANY(${v.marks}::text[]) AND withdrawn_at IS NULL`,
)
const otherUsers = statement(
  'users-without-mark-after',
  { ...MARKS, after: text, maxRows: integer },
  { id: text },
  (v) => sql`SELECT id FROM users WHERE id > ${v.after} AND withdrawn_at IS NULL
   AND (ledger_mark IS NULL OR ledger_mark < ${v.first} OR ledger_mark >= ${v.end}) ORDER BY id LIMIT ${v.maxRows}`,
)
export interface ReplayReport {
  lines: number
  /** The chain is whole, and no line of it was changed. */
  verified: boolean
  replayed: number
  already_gone: number
  /** Lines whose person cannot be found, because their secret is not in CODE_SECRET. */
  unknown_keys: number
  problems: string[]
  /** Where the store keeps this report. */
  evidence: string
  /** Only if the operator must act; the command then fails. */
  error?: string
}

/**
 * Runs after the restore of a backup, before the service opens: withdraws again every account that the backup brought back. If all
 * is well, the database takes over the end of the ledger, and the service opens.
 */
export async function replayErasureLedger(ctx: SystemContext, maxLines = MAX_LINES_IN_MEMORY): Promise<ReplayReport> {
  if ((await compareWithLedger(ctx)).state === 'level') await writeErasureLedger(ctx)
  const { end } = await compareWithLedger(ctx)
  return replayLedger(ctx, { knownTo: end.seq, maxLines })
}

const tryReplayLock = statement(
  'try-replay-lock',
  {},
  { is_held: boolean },
  () => sql`SELECT pg_try_advisory_xact_lock(hashtextextended('replay-erasure-ledger', 0)) AS is_held`,
)

/** Runs `work`, which has transactions of its own, while this one holds the lock. Null if another instance holds it. */
const underReplayLock = <T>(ctx: SystemContext, work: () => Promise<T>): Promise<T | null> =>
  ctx.transaction(async (tx) => {
    const [lock] = await tx.sql(tryReplayLock, {})
    return lock?.is_held ? work() : null
  })

/**
 * Withdraws again whom a database has lost that is a few lines behind its ledger. One instance does it at a time; null if another
 * does. Only the lines that are unknown here are read.
 */
export const replayGap = (ctx: SystemContext): Promise<ReplayReport | null> =>
  underReplayLock(ctx, async () => {
    const { state, end } = await compareWithLedger(ctx)
    return state === 'behind' ? replayLedger(ctx, { knownTo: end.seq, maxLines: MAX_LINES_IN_MEMORY, from: end }) : null
  })

async function replayLedger(
  ctx: SystemContext,
  { knownTo, maxLines, from }: { knownTo: number; maxLines: number; from?: StoredEnd },
): Promise<ReplayReport> {
  const head = await readLedgerHead(ctx)
  const reading = newReading()
  const lines = readLedger(ctx, head, reading, from)
  const { replayed, unknownKeys, unknownLines } = await withdrawLost(ctx, lines, { knownTo, maxLines })
  const verified = reading.problems.length === 0
  const isGood = verified && unknownKeys === 0
  if (isGood) await adoptLedger(ctx, reading, { lines: unknownLines, replayed })
  const at = ctx.clock.now().toISOString()
  const report: ReplayReport = {
    lines: reading.lines,
    verified,
    replayed,
    already_gone: reading.lines - replayed - unknownKeys,
    unknown_keys: unknownKeys,
    problems: reading.problems,
    evidence: `erasure-ledger/${head.origin}-replays/${at.replaceAll(':', '-')}.json`,
    ...(!isGood && { error: await wrongWith(ctx, unknownKeys, reading) }),
  }
  const { seq, hash } = reading
  await ctx.ledger.put(report.evidence, `${JSON.stringify({ at, ...report, seq, hash }, null, 2)}\n`)
  return report
}

interface Lost {
  replayed: number
  unknownKeys: number
  /** The lines after `knownTo`. */
  unknownLines: AdoptedLine[]
}

/** Withdraws again everybody of these lines who has an account, with at most `maxLines` lines in memory. */
async function withdrawLost(
  ctx: SystemContext,
  lines: AsyncIterable<ReadLine>,
  { knownTo, maxLines }: { knownTo: number; maxLines: number },
): Promise<Lost> {
  const keyIds = new Set(keyIdsOf(ctx))
  const lost: Lost = { replayed: 0, unknownKeys: 0, unknownLines: [] }
  const batch: ReadLine[] = []
  for await (const line of lines) {
    const { withdrawalId, seq = 0, hash = '' } = line
    if (seq > knownTo) lost.unknownLines.push({ withdrawalId, seq, hash })
    if (line.key !== undefined && !keyIds.has(line.key)) lost.unknownKeys++
    else batch.push(line)
    if (batch.length >= maxLines) lost.replayed += await replayLines(ctx, batch.splice(0))
  }
  lost.replayed += await replayLines(ctx, batch)
  return lost
}

async function wrongWith(ctx: SystemContext, unknownKeys: number, { problems }: LedgerReading): Promise<string> {
  const keys = `${unknownKeys} lines were written with a secret that is not in CODE_SECRET: nobody can be found by them.`
  const chain = `The ledger is not whole: ${problems[0]}`
  const what = [...(unknownKeys > 0 ? [keys] : []), ...(problems.length > 0 ? [chain] : [])].join(' ')
  const setting = `ACCEPT_OLD_DATABASE=${await nameOfGap(ctx)}`
  return `${what} Mend it and replay again, or set ${setting} to serve the database as it is.`
}

async function replayLines(ctx: SystemContext, lines: ReadLine[]): Promise<number> {
  let replayed = 0
  for (const [key, ofKey] of Map.groupBy(lines, (line) => line.key)) {
    for await (const [userId, line] of findLost(ctx, ofKey, key)) {
      if (await withdrawAgain(ctx, userId, line)) replayed++
    }
  }
  return replayed
}

/** The accounts of these lines, which one secret has made: by their marks, and those that are not marked with it by their pseudonyms. */
async function* findLost(
  ctx: SystemContext,
  lines: ReadLine[],
  key: string | undefined,
): AsyncIterable<[userId: string, line: ReadLine]> {
  const byMark = new Map(
    key === undefined ? [] : lines.map((line) => [ledgerMarkOfPseudonym(ctx, line.pseudonym, key), line]),
  )
  const marks = [...byMark.keys()]
  while (marks.length > 0) {
    for (const { id, ledger_mark: mark } of await ctx.sql(markedUsers, { marks: marks.splice(0, BATCH_SIZE) })) {
      yield [id, byMark.get(mark) as ReadLine]
    }
  }
  const byPseudonym = new Map(lines.map((line) => [line.pseudonym, line]))
  for await (const id of usersWithoutMark(ctx, key)) {
    const line = lineOf(ctx, byPseudonym, id)
    if (line) yield [id, line]
  }
}

async function* usersWithoutMark(ctx: SystemContext, key: string | undefined): AsyncIterable<string> {
  const values = { ...marksOf(key), maxRows: BATCH_SIZE }
  let users = await ctx.sql(withoutMark, values)
  // They are all. Otherwise they are read again, in their order.
  if (users.length < BATCH_SIZE) return yield* users.map(({ id }) => id)
  for (let after = ''; users.length === BATCH_SIZE; after = users.at(-1)?.id ?? '') {
    users = await ctx.sql(otherUsers, { ...values, after })
    yield* users.map(({ id }) => id)
  }
}

/** Any configured key may have made the pseudonym. */
const lineOf = (ctx: SystemContext, byPseudonym: Map<string, ReadLine>, userId: string): ReadLine | undefined =>
  ctx.secrets
    .macs('pseudonym', userId)
    .map((mac) => byPseudonym.get(mac.toString('base64url')))
    .find(Boolean)
