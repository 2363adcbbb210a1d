import type { Data, Input } from '@/contract/define'
import type { listReceipts as contract, ReceiptClaims } from '@/contract/receipt'
import { CATEGORIES, RECEIPT_KINDS } from '@/contract/vocabulary'
import type { StepStatus } from '@/contract/withdrawal'
import type { Acknowledges } from '../../applications/task-token'
import type { AnyContext, SystemContext, Transaction } from '../../context'
import { countsOf, type DeletionCount, describeCounts } from '../../deletion-counts'
import { withIsoTimes } from '../../iso-times'
import { second } from '../../limits/durations'
import type { SigningKey } from '../../process'
import { boolean, integer, joined, json, literal, type RowOf, sql, statement, text, time, UNWAITED } from '../../sql'
import { AFTER, eachDue, isAfter } from '../../work/queue'
import { hashOf, signingKey, signingKeyInside, signJws } from './signing-keys'
import { findStandingLine, type Standing } from './stored-lines'

type Kind = ReceiptClaims['kind']

interface TaskRow {
  name: string
  status: StepStatus
  told_at: string | null
  at: string | null
  acknowledges: Acknowledges
  last_status: number | null
  records: number | null
  retained: unknown[] | null
  is_waived: boolean
  is_absent: boolean
}

type Facts = RowOf<typeof readFacts>

// The lock makes the sweeps of several instances, and the ends of steps, write one after the other.
const lockDue = statement(
  'lock-due-receipts',
  { withdrawalId: text },
  { is_due: boolean },
  (v) => sql`SELECT receipt_due_at IS NOT NULL AS is_due FROM withdrawals WHERE id = ${v.withdrawalId} FOR UPDATE`,
)
const readFacts = statement(
  'receipt-facts',
  { withdrawalId: text },
  {
    started_at: time,
    completed_at: time.orNull,
    purged_at: time.orNull,
    purge_due_at: time,
    due_by: time.orNull,
    ledger_seq: integer.orNull,
    ledger_hash: text.orNull,
    /** Its ledger line is not in the store yet but will be. */
    awaits_line: boolean,
    /** False if a release that did not count took part. */
    is_counted: boolean.orNull,
    counts: json.of<DeletionCount[]>().orNull,
    applications: json.of<TaskRow[]>().orNull,
  },
  (v) => sql`SELECT w.started_at, w.completed_at, w.purged_at, w.purge_due_at, w.due_by, w.ledger_seq, w.ledger_hash,
     w.ledgered_at IS NULL AND w.user_id IS NOT NULL OR EXISTS (
       SELECT FROM erasure_ledger_batches b WHERE b.first_seq <= w.ledger_seq) AS awaits_line,
     (SELECT bool_and(s.is_counted) FROM deletion_steps s
      WHERE s.withdrawal_id = w.id AND s.status = 'completed') AS is_counted,
     ${countsOf(sql`w.id`)} AS counts,
     (SELECT json_agg(json_build_object('name', n.app_name, 'status', n.status, 'told_at', n.first_tried_at,
                                        'at', CASE WHEN n.status = 'completed' THEN coalesce(n.waived_at, n.absent_at, n.completed_at) END,
                                        'acknowledges', n.acknowledges,
                                        'last_status', n.last_status, 'records', n.records, 'retained', n.retained,
                                        'is_waived', n.waived_at IS NOT NULL, 'is_absent', n.absent_at IS NOT NULL) ORDER BY n.app_name, n.id)
      FROM deletion_tasks n WHERE n.withdrawal_id = w.id) AS applications
   FROM withdrawals w WHERE w.id = ${v.withdrawalId}`,
)

const readReceipts = statement(
  'withdrawal-receipts',
  { withdrawalId: text },
  { kind: text.of<Kind>(), issued_at: time, receipt: text },
  (v) => sql`SELECT kind, issued_at, receipt FROM withdrawal_receipts WHERE withdrawal_id = ${v.withdrawalId}
   ORDER BY issued_at, array_position(ARRAY[${joined(RECEIPT_KINDS.map((kind) => literal(kind)))}], kind)`,
)

/** The first of two receipts of one kind stays. */
const insertReceipt = statement(
  'insert-receipt',
  { withdrawalId: text, kind: text.of<Kind>(), receipt: text, at: time },
  {},
  (v) => sql`INSERT INTO withdrawal_receipts (withdrawal_id, kind, receipt, issued_at)
   VALUES (${v.withdrawalId}, ${v.kind}, ${v.receipt}, ${v.at}) ON CONFLICT DO NOTHING`,
)
// Returns the one that stays. Its commit does not wait for the disk: one that a crash has lost is signed again, in the same bytes while
// the key is the same.
const keepAcceptance = statement(
  'keep-acceptance',
  { withdrawalId: text, receipt: text, at: time },
  { receipt: text, is_kept: boolean },
  (v) => sql`INSERT INTO withdrawal_receipts AS r (withdrawal_id, kind, receipt, issued_at)
   VALUES (${v.withdrawalId}, 'acceptance', ${v.receipt}, ${v.at})
   ON CONFLICT (withdrawal_id, kind) DO UPDATE SET kind = r.kind
   RETURNING r.receipt, ${UNWAITED} IS NOT NULL AS is_kept`,
)
// After the last receipt, which is that of the purge or of a completion after it, nothing reads the counts any more.
const markWritten = statement(
  'mark-receipts-written',
  { withdrawalId: text },
  {},
  (v) => sql`WITH written AS (
     UPDATE withdrawals SET receipt_due_at = NULL WHERE id = ${v.withdrawalId} RETURNING id, completed_at, purged_at
   )
   DELETE FROM deletion_counts c USING written w
   WHERE c.withdrawal_id = ${v.withdrawalId} AND w.completed_at IS NOT NULL AND w.purged_at IS NOT NULL`,
)
const dueReceipts = statement(
  'due-receipts',
  AFTER,
  { id: text, due_at: time },
  (v) => sql`SELECT id, receipt_due_at AS due_at FROM withdrawals
   WHERE receipt_due_at IS NOT NULL AND ${isAfter(v, sql`receipt_due_at`)}
   ORDER BY receipt_due_at, id LIMIT ${v.maxRows}`,
)

/** Signs the acceptance of a withdrawal whose line stands. The one that was signed first stays. */
export async function acceptanceOf(ctx: SystemContext, standing: Standing): Promise<string> {
  const { id: withdrawalId, started_at: at } = standing
  const receipt = await sign(ctx, await signingKey(ctx), withdrawalId, 'acceptance', at, acceptanceClaims(standing))
  const [kept] = await ctx.sql(keepAcceptance, { withdrawalId, receipt, at })
  return kept?.receipt ?? receipt
}

const acceptanceClaims = (facts: Omit<Standing, 'id' | 'origin'>): Statements => ({
  withdrawal: timesOf({ ...facts, completed_at: null }),
  ...logOf(facts),
})

const timesOf = (facts: Pick<Facts, 'started_at' | 'completed_at' | 'purge_due_at' | 'due_by'>) => ({
  started_at: facts.started_at.toISOString(),
  ...(facts.completed_at && { completed_at: facts.completed_at.toISOString() }),
  purge_due_at: facts.purge_due_at.toISOString(),
  ...(facts.due_by && { due_by: facts.due_by.toISOString() }),
})

/** The line of the withdrawal in the ledger; a release before the chain gave it none. */
const logOf = ({ ledger_seq: seq, ledger_hash: hash }: Pick<Facts, 'ledger_seq' | 'ledger_hash'>) =>
  seq !== null && hash !== null && { log: { seq, hash } }

type Statements = Omit<ReceiptClaims, 'iss' | 'iat' | 'jti' | 'sub' | 'kind'>

/**
 * The id is derived from what is proven: after a restore the same withdrawal gets the same acceptance, byte for byte, while the key
 * is the same.
 */
function sign(
  { appUrl }: AnyContext,
  key: SigningKey,
  withdrawalId: string,
  kind: Kind,
  at: Date,
  claims: Statements,
): Promise<string> {
  const jti = `rcp_${hashOf(`${withdrawalId}\n${kind}`).slice(0, 22)}`
  const iat = Math.floor(at.getTime() / second)
  const all: ReceiptClaims = { iss: appUrl, iat, jti, sub: withdrawalId, kind, ...claims }
  return signJws(key, 'withdrawal-receipt+jwt', all)
}

/** Writes the receipts that a step or a purge could not write, because the ledger had no line of the withdrawal yet. */
export const writeDueReceipts = (ctx: SystemContext, maxRows = 100): Promise<void> =>
  eachDue(
    { rows: 'receipts', maxRows },
    (after) => ctx.sql(dueReceipts, after),
    ({ id }) => ctx.transaction((tx) => writeReceipts(tx, id)),
  )

/** Writes missing receipts in chain order, in the transaction of step, purge or sweep. */
export async function writeReceipts(tx: Transaction, withdrawalId: string): Promise<void> {
  const [due] = await tx.sql(lockDue, { withdrawalId })
  const [facts] = due?.is_due ? await tx.sql(readFacts, { withdrawalId }) : []
  if (!facts || facts.awaits_line) return
  const written = await tx.sql(readReceipts, { withdrawalId })
  const reached: [Kind, Date | null][] = [
    // The call that should have signed it has died.
    ['acceptance', written.length === 0 && facts.ledger_seq !== null ? facts.started_at : null],
    ['completion', facts.completed_at],
    ['purge', facts.purged_at],
  ]
  const missing = reached
    .filter(([kind, at]) => at !== null && !written.some((one) => one.kind === kind))
    .sort(([, a], [, b]) => Number(a) - Number(b))
  let previous = written.at(-1)?.receipt
  for (const [kind] of missing) {
    const at = kind === 'acceptance' ? facts.started_at : tx.clock.now()
    const claims = { ...(previous !== undefined && { previous: hashOf(previous) }), ...claimsOf(facts, kind) }
    const receipt = await sign(tx, await signingKeyInside(tx), withdrawalId, kind, at, claims)
    await tx.sql(insertReceipt, { withdrawalId, kind, receipt, at })
    previous = receipt
  }
  await tx.sql(markWritten, { withdrawalId })
}

function claimsOf(facts: Facts, kind: Kind): Statements {
  if (kind === 'acceptance') return acceptanceClaims(facts)
  const until = facts.purge_due_at.toISOString()
  const counts = (facts.counts ?? []).filter(({ step }) => (step === 'purge') === (kind === 'purge'))
  return {
    withdrawal: timesOf(facts),
    ...(facts.is_counted && describeCounts(summed(counts), until)),
    applications: (facts.applications ?? []).map(describeApplication),
    ...logOf(facts),
  }
}

/** One entry for a category, even if several steps erased records of it. */
const summed = (counts: DeletionCount[]): DeletionCount[] =>
  CATEGORIES.flatMap((category) => {
    const ofCategory = counts.filter((count) => count.category === category)
    return [...Map.groupBy(ofCategory, ({ outcome }) => outcome).values()].map((same) => ({
      ...(same[0] as DeletionCount),
      records: same.reduce((sum, { records }) => sum + records, 0),
    }))
  })

function describeApplication(row: TaskRow): NonNullable<ReceiptClaims['applications']>[number] {
  const iso = (time: string) => new Date(time).toISOString()
  return {
    name: row.name,
    ...(row.told_at && { told_at: iso(row.told_at) }),
    answer: answerOf(row),
    ...(row.at && { at: iso(row.at) }),
    ...(row.status === 'completed' && row.records !== null && { reported_records: row.records }),
  }
}

/** 404 and 410: the application does not know the person. A task without a status was ended by a report. */
function answerOf({ status, is_waived, is_absent, acknowledges, last_status: answer, retained }: TaskRow) {
  if (is_waived) return 'waived'
  if (status !== 'completed') return 'open'
  // What it keeps by law comes first: nobody should read that it has nothing of the person.
  if (retained?.length) return 'retained_part'
  if (is_absent) return 'absent'
  if (acknowledges === 'later' && answer === null) return 'erased'
  return answer === 404 || answer === 410 ? 'gone' : 'told'
}

/** The receipts of a withdrawal in their chain; none before its line stands. */
export async function listReceipts(
  ctx: SystemContext,
  { withdrawalId }: Pick<Input<typeof contract>, 'withdrawalId'>,
): Promise<Data<typeof contract>> {
  const standing = await findStandingLine(ctx, withdrawalId)
  if (!standing) return { receipts: [] }
  let rows = await ctx.sql(readReceipts, { withdrawalId })
  // No call has waited for the line. After the purge there are none for another reason: they have been kept long enough.
  if (rows.length === 0 && standing.ledger_seq !== null && ctx.clock.now() < standing.purge_due_at) {
    await acceptanceOf(ctx, standing)
    rows = await ctx.sql(readReceipts, { withdrawalId })
  }
  return { receipts: rows.map(withIsoTimes) }
}
