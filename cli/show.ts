import { type Amount, formatAmount } from '@/contract/amount'
import { ENGLISH } from '@/server/texts/catalogue'

type Row = Record<string, unknown>

export interface Look {
  now: Date
  /** Columns of the terminal. */
  width: number
  /** Every column of a table, however wide it gets. */
  wide: boolean
}

/** The columns of a list to look at first, which a line has before others. Rows of one status may have their own. */
const FIRST: Record<string, readonly string[]> = {
  pushed_blockers: ['source', 'key', 'title', 'amount', 'expires_at'],
  blockers: ['title', 'source', 'code', 'url'],
  pending_transactions: ['transaction_id', 'title', 'amount', 'created_at'],
  transactions: ['transaction_id', 'user_id', 'title', 'amount', 'status'],
  failing_apps: ['name', 'problem', 'held_up', 'app_id'],
  failing_withdrawals: ['withdrawal_id', 'step', 'problem', 'waits_for', 'due_by'],
  apps: ['name', 'open_tasks', 'failing', 'app_id'],
  counts: ['means', 'count'],
  figures: ['means', 'count'],
  sessions: ['session_id', 'last_seen_at', 'ip_address', 'user_agent'],
  access_tokens: ['token_id', 'name', 'scopes', 'expires_at', 'last_used_at'],
  service_tokens: ['service_token_id', 'name', 'scopes', 'expires_at', 'last_used_at'],
  deletion_steps: ['step', 'status', 'last_error', 'due_at'],
  audit: ['at', 'action', 'actor', 'requested_by', 'subject_id'],
  deliveries: ['event_id', 'app_name', 'status', 'last_error', 'type', 'due_at'],
  receipts: ['kind', 'issued_at'],
  notices: ['kind', 'attempts', 'due_at', 'sent_at', 'failed_at'],
  withdrawals: ['withdrawal_id', 'problem', 'due_by', 'waits_for'],
  'completed withdrawals': ['withdrawal_id', 'problem', 'completed_at', 'purge_due_at'],
  'purged withdrawals': ['withdrawal_id', 'purged_at', 'completed_at'],
  tasks: ['name', 'state', 'last_error', 'task_id', 'due_at', 'withdrawal_id'],
}

/** An answer for people: a line for each member, and a table for each list of objects. What an inner object leaves empty has no line. */
export function showAnswer(answer: object, look: Look): string {
  const { is_cut, ...rest } = answer as Row
  const members = Object.entries(rest).flatMap((member) =>
    flatten(member).filter(([name, value]) => name === member[0] || (value !== false && textOf(value, look) !== '-')),
  )
  const isTable = ([, value]: [string, unknown]) => isListOfRows(value)
  const lines = members
    .filter((member) => !isTable(member) && !isEnd(member) && !saysNothingEmpty(member))
    .map(([name, value]) => [name, isEmptyList(value) ? 'none' : shortened(cellOf(name, value, look), look)])
  const tables = members.filter(isTable).map(([name, rows]) => tableOf(name, rows as Row[], rest, look))
  return `${[columns(lines), ...tables, is_cut === true ? ['There is more than is shown.'] : []]
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`
}

/** One member of an answer as a shell takes it: nothing for null, and JSON for a list or an object; undefined where there is none. */
export function memberOf(answer: object, path: string): string | undefined {
  let value: unknown = JSON.parse(JSON.stringify(answer))
  for (const name of path.split('.')) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  if (value === undefined) return undefined
  return `${isObject(value) ? JSON.stringify(value) : (value ?? '')}\n`
}

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null

/** What is wrong, and lists of counts that are not zero. */
const saysNothingEmpty = ([name, value]: [string, unknown]) =>
  name === 'problem' ? value === null : (name === 'figures' || name === 'counts') && isEmptyList(value)

/** A list that goes no further. */
const isEnd = ([name, value]: [string, unknown]) => name === 'next' && value === null

/** A receipt is for programs to read. A secret that is shown once is never so long. */
const shortened = (text: string, { wide }: Look): string =>
  !wide && text.length > 400 && !text.includes(' ') ? `${text.slice(0, 40)}… (--wide shows all of it)` : text

/** The members of an object within an object get both names. */
function flatten([name, value]: [string, unknown]): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date || isAmount(value))
    return [[name, value]]
  return Object.entries(value).flatMap(([inner, value]) => flatten([`${name}.${inner}`, value]))
}

const isAmount = (value: object): value is Amount => 'minor_units' in value && 'currency' in value

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

const isListOfRows = (value: unknown): value is Row[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject)

function tableOf(title: string, rows: Row[], answer: Row, look: Look): string[] {
  const flat = rows.map((row) => Object.fromEntries(Object.entries(withCause(row)).flatMap(flatten)))
  const all = [...new Set(flat.flatMap((row) => Object.keys(row)))].filter((name) => name !== BELOW)
  const cellsOf = (name: string) => [name, ...flat.map((row) => cellOf(name, row[name], look))]
  // An id that the answer names itself tells nothing of a row.
  const isSaid = (name: string) => name.endsWith('_id') && flat.every((row) => row[name] === answer[name])
  const isTold = (value: unknown) => value !== false && textOf(value, look) !== '-'
  // The problem of a row is often its last answer.
  const isProblem = (name: string) =>
    name === 'last_error' && flat.every((row) => (row.last_error ?? row.problem) === row.problem)
  const telling = all.filter((name) => !isSaid(name) && !isProblem(name) && flat.some((row) => isTold(row[name])))
  const wanted = FIRST[`${rows[0]?.status} ${title}`] ?? FIRST[title] ?? telling
  const first = wanted.filter((name) => telling.includes(name)).map(cellsOf)
  const others = telling.filter((name) => !wanted.includes(name)).map(cellsOf)
  const shown = look.wide ? all.map(cellsOf) : fitted(first, others, look.width)
  const hidden = all.length - shown.length
  const heading = `${clean(title)}:${hidden > 0 ? ` (--wide shows ${hidden} more ${hidden === 1 ? 'column' : 'columns'})` : ''}`
  const [head = '', ...lines] = columns(['', ...flat].map((_, row) => shown.map((cells) => cells[row] ?? '')))
  const below = flat.map((row) =>
    row[BELOW] ? linesOf(`${BELOW}: ${textOf(row[BELOW], look)}`, look.width - GAP.length) : [],
  )
  return [heading, head, ...lines.flatMap((line, row) => [line, ...(below[row] ?? []).map((text) => GAP + text)])]
}

/** A task of a disabled application waits for that alone. */
const withCause = (row: Row): Row =>
  row.is_app_disabled === true && row.state !== 'completed' && row.state !== 'waived'
    ? { ...row, state: 'disabled' }
    : row

/** Advice is read as a whole, and stands below its row. */
const BELOW = 'mend'
/** A piece of these says nothing. */
const NEVER_CUT = /(^|_)(id|kid|at|by|from|completion|step|state|status)$/
/** Found by their beginning, where another column comes first. */
const MAY_BE_CUT = /^(withdrawal|user|app)_id$/
/** What is left of a longer text tells which one it is, and of an id as much as finds it. */
const LEAST = 10

/** The columns for which a line has room: a long text of the first ones is cut, and the others are whole. */
function fitted(first: string[][], others: string[][], width: number): string[][] {
  const shown: { cells: string[]; room: number }[] = []
  let left = width + GAP.length
  const take = (cells: string[], room: number) => {
    if (shown.length > 0 && room + GAP.length > left) return
    shown.push({ cells, room })
    left -= room + GAP.length
  }
  const isWhole = (cells: string[]) =>
    NEVER_CUT.test(cells[0] ?? '') && (cells === first[0] || !MAY_BE_CUT.test(cells[0] ?? ''))
  for (const cells of first) take(cells, isWhole(cells) ? widthOf(cells) : Math.min(LEAST, widthOf(cells)))
  for (const one of shown) {
    const more = Math.min(left, widthOf(one.cells) - one.room)
    one.room += more
    left -= more
  }
  for (const cells of others) take(cells, widthOf(cells))
  return shown.map(({ cells, room }) => cells.map((cell) => cut(cell, room)))
}

const GAP = '  '

const STEPS: Record<string, { title: string }> = ENGLISH.Deletion.steps

/** A deletion step is called as the person reads it. */
const cellOf = (column: string, value: unknown, look: Look): string =>
  ['step', 'phase', 'retried_steps'].includes(column) && value !== null
    ? [value]
        .flat()
        .map((step) => STEPS[String(step)]?.title ?? String(step))
        .join(', ')
    : textOf(value, look)

function cut(line: string, width: number): string {
  const letters = [...line]
  return letters.length <= width ? line : `${letters.slice(0, width - 1).join('')}…`
}

/** The text in lines of whole words; a longer word has a line of its own. */
export function linesOf(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(/(?<=\s)(?=\S)/)) {
    const line = `${lines.at(-1)}${word}`
    if ([...line.trimEnd()].length <= width) lines[lines.length - 1] = line
    else lines.push(word)
  }
  return lines.map((line) => line.trimEnd())
}

const widthOf = (cells: string[]): number => Math.max(...cells.map((cell) => [...cell].length))

function columns(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => widthOf(rows.map((row) => row[column] ?? '')))
  const pad = (text: string, column: number) => text + ' '.repeat((widths[column] ?? 0) - [...text].length)
  return rows.map((row) => row.map(pad).join(GAP).trimEnd())
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function textOf(value: unknown, look: Look): string {
  if (value === null || value === undefined) return '-'
  if (value instanceof Date) return timeOf(value, look.now)
  if (typeof value === 'string' && ISO_TIME.test(value)) return timeOf(new Date(value), look.now)
  // In a cell of a table a list of objects is too long to read.
  if (isListOfRows(value)) return look.wide ? clean(JSON.stringify(value)) : `${countOf(value)}`
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map((entry) => textOf(entry, look)).join(', ')
  if (typeof value === 'object' && isAmount(value)) return formatAmount(value, 'en')
  return clean(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** Of rows that are counts themselves, the sum. */
const countOf = (rows: Row[]): number =>
  rows.reduce((sum, { records }) => sum + (typeof records === 'number' ? records : 1), 0)

/** Such as `23 Nov 02:50 (18 min ago)`, in the time zone of the terminal. */
export function timeOf(time: Date, now: Date): string {
  const year = time.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  const day = time.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', ...year })
  const clock = time.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
  return `${day} ${clock} (${distanceOf(time.getTime() - now.getTime())})`
}

const UNITS = [
  { name: 'd', minutes: 1_440 },
  { name: 'h', minutes: 60 },
  { name: 'min', minutes: 1 },
]

/** What is ahead is rounded, so that a time set a moment ago reads as it was set. */
function distanceOf(ms: number): string {
  const round = ms < 0 ? Math.floor : Math.round
  const minutes = round(Math.abs(ms) / 60_000)
  const unit = UNITS.find((one) => minutes >= one.minutes)
  if (!unit) return 'now'
  const distance = `${round(minutes / unit.minutes)} ${unit.name}`
  return ms < 0 ? `${distance} ago` : `in ${distance}`
}

/** A name that somebody chose must not control the terminal. */
const clean = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�')
