import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { until } from './until'

/** Copies the audit rows in the order in which their transactions held the account's lock, because the service erases its own rows. */
export const NOTE_TRANSITIONS = `
  CREATE SCHEMA traces;
  CREATE TABLE traces.audited (number bigserial PRIMARY KEY, account text, action text, actor text, subject text);
  CREATE FUNCTION traces.note() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO traces.audited (account, action, actor, subject) VALUES (NEW.user_id, NEW.action, NEW.actor, NEW.subject_id);
    RETURN NULL;
  END $$;
  CREATE TRIGGER traces AFTER INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION traces.note();`

export interface Audited {
  account: string
  action: string
  actor: string
  subject: string | null
}

/** The state of an account after a part of its trace, as in lab/model/account.als. */
interface Account {
  pending: string | null
  /** Verified changes that were not undone, oldest first. */
  verified: string[]
  known: Set<string>
  isWithdrawn: boolean
}

const isByOthers = ({ actor }: Audited) => actor === 'service' || actor === 'operator'
/** A used link of a password reset proves the address too. */
const isWithoutChange = (row: Audited) => isByOthers(row) || row.actor === 'reset_link'

/** Each function applies its transition to the account, and returns whether it was allowed. */
const TRANSITIONS: Record<string, (account: Account, row: Audited) => boolean> = {
  'email_change.requested': (account, { subject }) => {
    const isNew = !account.known.has(subject ?? '')
    account.known.add(subject ?? '')
    account.pending = subject
    return isNew
  },
  // These two hold the lock of the change alone, so that the row of a newer change may stand before theirs.
  'email_change.resent': ({ known }, { subject }) => known.has(subject ?? ''),
  'email_change.cancelled': (account, row) => {
    const isOlder = account.known.has(row.subject ?? '') && !account.verified.includes(row.subject ?? '')
    return closePending(account, row) || isOlder
  },
  'email.verified': (account, row) => (row.subject === null ? isWithoutChange(row) : closePending(account, row)),
  'email.changed': (account, row) => {
    const isGood = closePending(account, row) || (isByOthers(row) && !account.known.has(row.subject ?? ''))
    account.known.add(row.subject ?? '')
    account.verified.push(row.subject ?? '')
    account.pending = null
    return isGood
  },
  'email.reverted': (account, { subject }) => {
    const at = account.verified.indexOf(subject ?? '')
    if (at >= 0) account.verified.length = at
    account.pending = null
    return at >= 0
  },
  'account.withdrawn': (account) => {
    account.pending = null
    account.isWithdrawn = true
    return true
  },
}
export const TRANSITION_KINDS = Object.keys(TRANSITIONS)

function closePending(account: Account, { subject }: Audited): boolean {
  const isPending = account.pending !== null && account.pending === subject
  if (isPending) account.pending = null
  return isPending
}

/** Actions that end sessions and so cancel the pending change. */
const CANCELS = [
  'password.changed',
  'password.reset',
  'session.others_revoked',
  'session.all_revoked',
  'sign_in.disowned',
  'access.all_ended',
]
/** Rows that are written under the lock of the account, and those of them that are no transition or may come after the withdrawal. */
const LOCKED = /^(?:account|email|email_change|password|user)\./
const OTHERS = /^(?:email\.old_mailbox_lost|password\.(?:changed|renewed|reset)|user\.(?:created|imported|updated))$/
const AT_ANY_TIME = /^(?:account\.looked_up|email\.undeliverable)$/

/** The forbidden transitions, in the order of the rows. */
export function problemsOf(rows: Audited[]): string[] {
  const accounts = new Map<string, Account>()
  return rows.flatMap((row) => {
    const account = accounts.get(row.account) ?? { pending: null, verified: [], known: new Set(), isWithdrawn: false }
    accounts.set(row.account, account)
    if (CANCELS.includes(row.action)) account.pending = null
    if (!LOCKED.test(row.action) || AT_ANY_TIME.test(row.action)) return []
    const transitionText = `${row.account}: ${row.action} ${row.subject ?? ''} by ${row.actor}`
    if (account.isWithdrawn) return [`${transitionText} after its withdrawal`]
    const transition = TRANSITIONS[row.action]
    if (transition) return transition(account, row) ? [] : [`${transitionText}: out of order`]
    return OTHERS.test(row.action) ? [] : [`${transitionText}: a kind of transition that nobody knows`]
  })
}

/** Each line follows the one before it, and names a withdrawal that no other line names. */
export function problemsOfLedger(lines: string[], withdrawals: Set<string | null>): string[] {
  let hash = ''
  const named = new Set<string>()
  return lines.flatMap((text, index) => {
    const { seq, prev, withdrawalId } = JSON.parse(text) as { seq: number; prev: string; withdrawalId: string }
    const isNext = seq === index + 1 && prev === hash && !named.has(withdrawalId)
    hash = createHash('sha256').update(text).digest('base64url')
    named.add(withdrawalId)
    if (!isNext) return [`line ${seq} of the ledger does not follow`]
    return withdrawals.has(withdrawalId) ? [] : [`line ${seq} of the ledger names a withdrawal that the audit does not`]
  })
}

/** A world is one. */
interface Traced {
  dataDir: string
  query<Row extends object>(text: string): Promise<Row[]>
}

/** Fails if an account made a forbidden transition. Changes that a test has written itself are left out. */
export async function expectNoBadTrace(world: Traced): Promise<void> {
  const rows = await rowsOf(world)
  const requestedIds = new Set(
    rows.filter(({ action }) => action === 'email_change.requested').map(({ subject }) => subject),
  )
  const isOwn = ({ action, subject }: Audited) =>
    /^email/.test(action) && action in TRANSITIONS && !requestedIds.has(subject)
  expect(problemsOf(rows.filter((row) => !isOwn(row))).slice(0, 5)).toEqual([])
}

/** Fails unless every kind of transition that is asked for was seen, and all of them in a good order. Returns how many there were. */
export async function expectGoodTrace(world: Traced, kinds: string[]): Promise<number> {
  const rows = await rowsOf(world)
  expect(problemsOf(rows).slice(0, 5)).toEqual([])
  const seen = new Set(rows.map(({ action }) => action))
  expect(kinds.filter((kind) => !seen.has(kind))).toEqual([])
  const withdrawn = rows.filter(({ action }) => action === 'account.withdrawn')
  const lines = await until('every withdrawal has its line', () => {
    const all = ledgerLinesOf(world)
    return all.length >= withdrawn.length ? all : null
  })
  expect(problemsOfLedger(lines, new Set(withdrawn.map(({ subject }) => subject))).slice(0, 5)).toEqual([])
  return rows.filter(({ action }) => action in TRANSITIONS).length
}

/** The lines of the erasure ledger in their order. */
export const ledgerLinesOf = ({ dataDir }: Pick<Traced, 'dataDir'>): string[] =>
  globSync('ledger/erasure-ledger/*/*.ndjson', { cwd: dataDir })
    .sort()
    .flatMap((file) => readFileSync(path.join(dataDir, file), 'utf8').trimEnd().split('\n'))

const rowsOf = (world: Traced) =>
  world.query<Audited>('SELECT account, action, actor, subject FROM traces.audited ORDER BY number')
