import type { SystemContext } from '../../context'
import type { LedgerEntry } from '../../ports'
import { hashOf, type PublicKey, readSigningKeys, verifyJws } from '../receipts/signing-keys'
import {
  batchName,
  beginningName,
  endName,
  firstSeqOf,
  folderOf,
  type LedgerEnd,
  type LedgerHead,
  type LedgerLine,
  waitingBatches,
} from './erasure-ledger'

/** Objects that are read ahead. */
const READ_AHEAD = 16
const MAX_PROBLEMS = 20

/** Running result of reading the ledger. */
export interface LedgerReading {
  lines: number
  /** The last line of the chain. */
  seq: number
  hash: string
  batchSeq: number
  /** Sentences; only the first twenty. */
  problems: string[]
  /** Keys that have signed and that the database may not know. */
  keys: PublicKey[]
}

export interface ReadLine extends LedgerEntry {
  /** Absent in lines from before the chain. */
  seq?: number
  hash?: string
  key?: string
}

export const newReading = (): LedgerReading => ({ lines: 0, seq: 0, hash: '', batchSeq: 0, problems: [], keys: [] })

/**
 * Every readable line, with one batch in memory at a time; only those after `from`, if it is given. Notes in `reading` what is wrong
 * with the chain.
 */
export async function* readLedger(
  ctx: SystemContext,
  head: LedgerHead,
  reading: LedgerReading,
  from?: { seq: number; hash: string },
): AsyncIterable<ReadLine> {
  const { origin } = head
  if (!from) yield* linesBeforeChain(ctx, reading)
  const beginning = from ?? (await readBeginning(ctx, origin))
  Object.assign(reading, beginning)
  const end = await readEnd(ctx, origin, reading)
  const known = [end, await knownHere(ctx, head)]
  for await (const { name, lines } of batches(ctx, origin, beginning.seq)) {
    reading.batchSeq = firstSeqOf(name)
    for (const text of lines.split('\n')) {
      if (text === '') continue
      const line = follow(reading, text)
      const vouched = known.find((one) => one?.lines === reading.seq)
      if (vouched && vouched.hash !== reading.hash) {
        note(reading, `Line ${reading.seq} is not the line that ${vouched.who}: it or a line before it was changed.`)
      }
      if (line) yield line
    }
  }
  for (const one of known) {
    if (one && one.lines > reading.seq) {
      note(reading, `The ledger ends at line ${reading.seq}, but ${one.who} line ${one.lines}.`)
    }
  }
}

async function* linesBeforeChain(ctx: SystemContext, reading: LedgerReading): AsyncIterable<ReadLine> {
  for await (const text of ctx.ledger.earlierLines()) {
    // A full disk or a kill can leave half a line; its withdrawal was written again after it.
    const entry = parse(text)
    if (!entry) continue
    reading.lines++
    yield entry
  }
}

/** Null if the store does not have all lines of this database. */
async function knownHere(ctx: SystemContext, { seq, hash }: LedgerHead) {
  const unstored = await ctx.sql(waitingBatches, { maxRows: 1 })
  return seq === 0 || unstored.length > 0 ? null : { lines: seq, hash, who: 'the database knows' }
}

/** Skips what a killed `ledger trim` left. */
async function* batches(ctx: SystemContext, origin: string, trimmed: number) {
  const reads: { name: string; lines: Promise<string | null> }[] = []
  const next = async () => {
    const { name, lines } = reads.shift() as (typeof reads)[number]
    return { name, lines: (await lines) ?? '' }
  }
  for await (const name of ctx.ledger.list(folderOf(origin), batchName(origin, trimmed))) {
    const lines = ctx.ledger.get(name)
    // It is awaited in its turn and may be rejected before that.
    lines.catch(() => {})
    reads.push({ name, lines })
    if (reads.length >= READ_AHEAD) yield await next()
  }
  while (reads.length > 0) yield await next()
}

/** Takes the line as the next of the chain, or notes why it is not. */
function follow(reading: LedgerReading, text: string): ReadLine | null {
  const line = parse(text) as LedgerLine | null
  const hash = hashOf(text)
  reading.lines++
  const due = reading.seq + 1
  if (!line) note(reading, `Line ${due} cannot be read.`)
  else if (line.seq > due) note(reading, missing(due, line.seq - 1))
  else if (line.seq < due) note(reading, `Line ${line.seq} stands behind line ${reading.seq}.`)
  else if (line.prev !== reading.hash) {
    note(reading, `Line ${due} does not follow the line before it: one of the two was changed.`)
  }
  // A line whose number has already passed has no part in the chain.
  if (!line || line.seq >= due) Object.assign(reading, { seq: line?.seq ?? due, hash })
  return line && { ...line, hash }
}

const missing = (from: number, to: number) =>
  from === to ? `Line ${from} is missing.` : `Lines ${from} to ${to} are missing.`

function note(reading: LedgerReading, problem: string) {
  if (reading.problems.length < MAX_PROBLEMS) reading.problems.push(problem)
}

function parse(text: string): LedgerEntry | null {
  try {
    const entry = JSON.parse(text)
    return typeof entry.withdrawalId === 'string' && typeof entry.pseudonym === 'string' ? entry : null
  } catch {
    return null
  }
}

/** What was dropped before the first line. */
export async function readBeginning(ctx: SystemContext, origin: string): Promise<{ seq: number; hash: string }> {
  const text = await ctx.ledger.get(beginningName(origin))
  return text ? JSON.parse(text) : { seq: 0, hash: '' }
}

/** The newest signed head in the store; null if there is none, or it is not genuine. */
async function readEnd(ctx: SystemContext, origin: string, reading: LedgerReading) {
  const text = await ctx.ledger.get(endName(origin))
  if (!text) return null
  try {
    const { head, keys } = JSON.parse(text) as LedgerEnd
    const verified = verifyJws([...(await readSigningKeys(ctx)), ...keys], 'erasure-log+jwt', head)
    if ('claims' in verified) {
      reading.keys = keys
      return { lines: Number(verified.claims.lines), hash: String(verified.claims.hash), who: 'its signed end names' }
    }
  } catch {}
  note(reading, 'The signed end of the ledger is not genuine.')
  return null
}
