import { type Amount, formatAmount } from '@/contract/amount'
import { type ShownTask, troubleOf } from '@/contract/tasks'
import {
  ACTORS,
  actSaid,
  FETCHES,
  labelOf,
  nameOfEvent,
  RECEIPTS,
  resultOf,
  TROUBLES,
  toLabel,
  WORDS,
} from '@/contract/words'
import { ENGLISH } from '@/server/texts/catalogue'

type Row = Record<string, unknown>

export interface Look {
  now: Date
  /** Columns of the terminal. */
  width: number
  /** Every column of a table, however wide it gets. */
  wide: boolean
}

/** The columns of a list, the first ones before others where a line has little room. Rows of one status may have their own. */
const COLUMNS: Record<string, readonly string[]> = {
  pushed_blockers: ['source', 'key', 'title', 'amount', 'expires_at', 'url'],
  pending_transactions: ['transaction_id', 'title', 'amount', 'created_at', 'url'],
  transactions: ['transaction_id', 'user_id', 'title', 'amount', 'status', 'created_at', 'url'],
  failing_apps: ['name', 'problem', 'since', 'held_up', 'app_id', 'waiting_events', 'dead_events'],
  failing_withdrawals: ['withdrawal_id', 'step', 'problem', 'due_by'],
  applications: ['name', 'answer', 'at', 'reported_records'],
  apps: ['name', 'open_tasks', 'failing', 'app_id', 'endpoint'],
  connections: ['name', 'subject', 'connected_at', 'app_id'],
  counts: ['count', 'means', 'listed_by'],
  figures: ['count', 'means', 'listed_by'],
  sessions: ['session_id', 'last_seen_at', 'ip_address', 'user_agent'],
  access_tokens: ['token_id', 'name', 'scopes', 'expires_at', 'last_used_at'],
  service_tokens: ['service_token_id', 'name', 'scopes', 'expires_at', 'last_used_at', 'hosts'],
  deletion_steps: ['step', 'status', 'last_error', 'due_at', 'attempts'],
  audit: ['at', 'action', 'actor', 'subject_id', 'requested_by'],
  deliveries: ['app_name', 'status', 'last_error', 'event_id', 'type', 'due_at'],
  receipts: ['kind', 'issued_at'],
  notices: ['kind', 'attempts', 'due_at', 'sent_at', 'failed_at'],
  withdrawals: ['withdrawal_id', 'problem', 'due_by'],
  'completed withdrawals': ['withdrawal_id', 'problem', 'completed_at', 'purge_due_at'],
  'purged withdrawals': ['withdrawal_id', 'purged_at', 'completed_at'],
  tasks: ['name', 'state', 'last_error', 'withdrawal_id', 'task_id', 'due_at', 'attempts'],
  other_tasks: ['name', 'state', 'withdrawal_id', 'task_id', 'due_at'],
}

/** What the pages call a list. */
const TITLES: Record<string, string> = {
  applications: 'Apps',
  audit: 'Audit log',
  connections: 'Connected apps',
  counts: 'In numbers',
  deletion_steps: 'Deletion steps',
  deliveries: 'Events',
  failing_apps: 'Apps that need attention',
  failing_withdrawals: 'Deletions that need attention',
  figures: 'Needs attention',
  notices: 'Mails',
  other_tasks: 'Other deletion tasks',
  pushed_blockers: 'Held back by services',
  tasks: 'Deletion tasks',
  undeliverable_users: 'Accounts whose address takes no mail',
}

/** Where the pages have these words, they speak of apps and of mails. */
const NAMES: Record<string, string> = {
  count: 'Number',
  kind: 'Kind',
  listed_by: 'Listed by',
  means: 'What',
  name: 'Name',
  person_reads: 'The person reads',
}
const OF_APPS_AND_MAILS = ['applications', 'apps', 'connections', 'failing_apps', 'notices', 'other_tasks', 'tasks']

const headingOf = (column: string, title = '') =>
  clean((OF_APPS_AND_MAILS.includes(title) ? undefined : NAMES[column]) ?? labelOf(column))

/** An answer for people, in the words of the pages: a line for each member that has a value, and a table for each list of objects. */
export function showAnswer(answer: object, look: Look): string {
  const { is_cut, ...rest } = answer as Row
  const members = Object.entries(rest).flatMap((member) =>
    flatten(member).filter(([name, value]) => hasContent(value, look) || (name === member[0] && isShownEmpty(value))),
  )
  const isTable = ([, value]: [string, unknown]) => isListOfRows(value)
  const lines = members
    .filter((member) => !isTable(member))
    .map(
      ([name, value]) =>
        [
          TITLES[name] ?? headingOf(name),
          isEmptyList(value) ? 'None' : shortened(cellOf(name, value, look), look),
        ] as const,
    )
  const tables = members.filter(isTable).map(([name, rows]) => tableOf(name, rows as Row[], rest, look))
  return [factsOf(lines, look), ...tables, is_cut === true ? ['There is more than is shown.'] : []]
    .filter((part) => part.length > 0)
    .map((part) => `${part.join('\n')}\n`)
    .join('\n')
}

/** A label gives way to a long word beside it, such as an id; a longer one is left to the terminal. */
function factsOf(facts: (readonly [string, string])[], { wide, width }: Look): string[] {
  const [labels, values] = [facts.map(([label]) => label), facts.map(([, value]) => value)]
  if (wide) return columns(facts.map((fact) => [...fact]))
  const longest = Math.max(0, ...values.map(longestWord))
  const label = Math.min(
    widthOf(['', ...labels]),
    Math.max(width - GAP.length - Math.min(longest, MAX_WORD), ...labels.map(longestWord)),
  )
  const value = Math.max(longest, width - GAP.length - label)
  return rowsOf([
    { cells: labels, columnWidth: label },
    { cells: values, columnWidth: value },
  ]).flat()
}

const hasContent = (value: unknown, look: Look) => value !== false && textOf(value, look) !== '-'

/** What an inner object leaves empty, and what is not there, has no line. */
const isShownEmpty = (value: unknown) => value === false || isEmptyList(value)

/** One member of an answer as a shell takes it: nothing for null, and JSON for a list or an object; undefined where there is none. */
export function memberOf(answer: object, path: string): string | undefined {
  let value: unknown = JSON.parse(JSON.stringify(answer))
  for (const name of path.split('.')) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  if (value === undefined) return undefined
  return `${isObject(value) ? JSON.stringify(value) : (value ?? '')}\n`
}

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null

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
  const flat = rows.map((row) => Object.fromEntries(Object.entries(withTrouble(row, look)).flatMap(flatten)))
  const all = [...new Set(flat.flatMap((row) => Object.keys(row)))].filter((name) => !SENTENCES.includes(name))
  // An id or a name that the answer has itself tells nothing of a row.
  const isSaid = (name: string) => {
    const values = new Set(flat.map((row) => row[name]))
    return (
      (name === 'name' || name.endsWith('_id')) && values.size === 1 && Object.values(answer).includes([...values][0])
    )
  }
  // The problem of a row is often its last answer.
  const isProblem = (name: string) =>
    name === 'last_error' && flat.every((row) => (row.last_error ?? row.problem) === row.problem)
  const isInformative = (name: string) =>
    !isSaid(name) && !isProblem(name) && flat.some((row) => row[name] !== 0 && hasContent(row[name], look))
  const wanted = (COLUMNS[`${rows[0]?.status} ${title}`] ?? COLUMNS[title] ?? all).filter(
    (name) => all.includes(name) && isInformative(name),
  )
  const cellsOf = (name: string) => [headingOf(name, title), ...flat.map((row) => cellOf(name, row[name], look, row))]
  const { shown, below } = look.wide
    ? { shown: all.map((name) => ({ cells: cellsOf(name), columnWidth: Number.POSITIVE_INFINITY })), below: [] }
    : fitted(
        wanted.map((name) => ({ name, cells: cellsOf(name) })),
        look.width,
      )
  const isCut = !look.wide && shown.length + below.length < wanted.length
  const [head = [], ...lines] = rowsOf(shown)
  const more = flat.map((row) =>
    [...below, ...SENTENCES].flatMap((name) =>
      hasContent(row[name], look)
        ? linesOf(
            `${name.endsWith('_id') ? '' : `${headingOf(name)}: `}${cellOf(name, row[name], look, row)}`,
            look.width - GAP.length,
          )
        : [],
    ),
  )
  return [
    `${clean(TITLES[title] ?? labelOf(title))}:${isCut ? ' (--wide shows more columns)' : ''}`,
    ...head,
    ...lines.flatMap((own, row) => [...own, ...(more[row] ?? []).map((text) => GAP + text)]),
  ]
}

/** What is wrong with a deletion task stands in place of its state, as on the pages; one that its app fetches is never tried. */
function withTrouble(row: Row, { now }: Look): Row {
  if (row.endpoint === null) return { ...row, endpoint: FETCHES }
  if (!('is_app_disabled' in row)) return row
  const trouble = troubleOf(row as ShownTask, now)
  return { ...row, state: trouble ? TROUBLES[trouble] : row.state, due_at: row.polls ? null : row.due_at }
}

/** What is read as a whole stands below its row. */
const SENTENCES = ['late_since', 'deletions', 'see', 'mend', 'person_reads', 'waits_for']
/** What the next command takes as a whole: where a line has no room for it, it stands below its row. */
const NEXT_ARGUMENTS = /^(source|key|(task|transaction|session|token|service_token|event)_id)$/
/** A part of who acted names nobody. */
const WHOLE_WORDS = 'actor'
/** A URL leaves where a text needs more lines than these. */
const URLS = /^(endpoint|url)$/
const MAX_LINES = 2
/** A piece of these says nothing. */
const NEVER_CUT = /(^|_)(kid|at|by|from|since|completion|step|state|status)$/
/** A longer word, such as a URL, is cut where a line has no room for it. */
const MAX_WORD = 30
/** A text goes on below itself, and six characters of an id after its prefix find it. */
const leastOf = (cell: string) =>
  /^(wd|[a-z]{3})_\S*$/.test(cell) ? cell.indexOf('_') + '_123456…'.length : Math.min(longestWord(cell), MAX_WORD)

interface Column {
  /** The heading, and what each row has. */
  cells: string[]
  /** How wide it is. */
  columnWidth: number
}

/** How many lines its longest text needs; none where it has room. */
function needOf({ cells: [heading = '', ...values], columnWidth }: Column): number {
  if (widthOf([heading, ...values]) <= columnWidth) return 0
  return values.some((value) => value.includes(' ')) ? widthOf(values) / columnWidth : 1
}

/** The columns for which a line has room. What is left goes, letter by letter, to the text that needs most lines, and then to ids. */
function fitted(wanted: { name: string; cells: string[] }[], width: number): { shown: Column[]; below: string[] } {
  const shown: (Column & { name: string })[] = []
  const below: string[] = []
  let left = width + GAP.length
  const placeOf = ({ name }: { name: string }) => wanted.findIndex((one) => one.name === name)
  const isLast = (one: { name: string }) => placeOf(one) > 0 && NEXT_ARGUMENTS.test(one.name)
  // What can stand below its row takes no room from what cannot.
  for (const { name, cells } of wanted.toSorted((one, other) => Number(isLast(one)) - Number(isLast(other)))) {
    const at = placeOf({ name })
    const isWhole = NEXT_ARGUMENTS.test(name) || NEVER_CUT.test(name)
    const [heading = '', ...values] = cells
    const columnWidth = isWhole
      ? widthOf(cells)
      : Math.max(heading.length, ...values.map(at === 0 || name === WHOLE_WORDS ? longestWord : leastOf))
    if (at > 0 && columnWidth + GAP.length > left) {
      if (NEXT_ARGUMENTS.test(name) || name === WHOLE_WORDS) below.push(name)
      continue
    }
    shown.push({ name, cells, columnWidth })
    left -= columnWidth + GAP.length
  }
  shown.sort((one, other) => placeOf(one) - placeOf(other))
  for (; left > 0; left--) {
    const [neediest] = shown.toSorted((one, other) => needOf(other) - needOf(one))
    if (!neediest || needOf(neediest) === 0) break
    neediest.columnWidth++
  }
  const url = shown.findLast(({ name }) => URLS.test(name))
  if (url && shown.some((one) => one !== url && needOf(one) > MAX_LINES))
    return fitted(
      wanted.filter(({ name }) => name !== url.name),
      width,
    )
  return { shown, below }
}

/** The lines of each row, of which words stay whole. */
function rowsOf(shown: Column[]): string[][] {
  const rows = (shown[0]?.cells ?? []).map((_, row) => {
    const cells = shown.map(({ cells, columnWidth }) =>
      linesOf(cells[row] ?? '', columnWidth).map((line) => cut(line, columnWidth)),
    )
    const height = Math.max(...cells.map(({ length }) => length))
    return Array.from({ length: height }, (_, line) => cells.map((lines) => lines[line] ?? ''))
  })
  const lines = columns(rows.flat())
  return rows.map(({ length }) => lines.splice(0, length))
}

const GAP = '  '

const STEPS: Record<string, { title: string }> = ENGLISH.Deletion.steps
/** As the person reads it. */
export const stepName = (step: string) => STEPS[step]?.title ?? step

/** A value as the pages write it; a deletion step is called as the person reads it. */
function cellOf(column: string, value: unknown, look: Look, row: Row = {}): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'string') {
    if (column === 'action') return actSaid({ ...row, action: value })
    if (column === 'actor') return whoActed(value, row)
    // The action names the role.
    if (column === 'subject_id' && row.action === 'role.changed') return '-'
    if (['acknowledges', 'answer', 'audience', 'state', 'status'].includes(column))
      return (row.transaction_id ? undefined : WORDS[value]) ?? toLabel(value)
    if (column === 'kind') return value in RECEIPTS ? `Of ${RECEIPTS[value as keyof typeof RECEIPTS]}` : toLabel(value)
    if (['reason', 'role'].includes(column)) return toLabel(value)
    if (column === 'type') return nameOfEvent(value)
    if (['failing', 'last_error', 'problem'].includes(column)) return clean(value.split(', ').map(resultOf).join(', '))
  }
  if (!['step', 'phase', 'retried_steps'].includes(column) || value === null) return textOf(value, look)
  return [value]
    .flat()
    .map((step) => stepName(String(step)))
    .join(', ')
}

/** An act on the pages names the operator, and one of a service the service. */
function whoActed(actor: string, { operator_email, operator_id, service_name, service_token_id }: Row): string {
  if (actor === 'operator' && operator_id) return clean(String(operator_email ?? operator_id))
  const service = service_name ?? service_token_id
  return clean(`${ACTORS[actor] ?? toLabel(actor)}${service ? ` ${service}` : ''}`)
}

function cut(line: string, width: number): string {
  const letters = [...line]
  return letters.length <= width ? line : `${letters.slice(0, width - 1).join('')}…`
}

/** The text in lines of whole words; a longer word has a line of its own. */
export function linesOf(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(/(?<=\s)(?=\S)/)) {
    const line = `${lines.at(-1)}${word}`
    if (lines.at(-1) === '' || [...line.trimEnd()].length <= width) lines[lines.length - 1] = line
    else lines.push(word)
  }
  return lines.map((line) => line.trimEnd())
}

/** What a terminal reads at its width. A line that begins with a space is a command, which has to be copied as one. */
export const wrapRefusal = (text: string, { isTTY, columns }: { isTTY: boolean; columns: number }): string =>
  isTTY && columns > 0
    ? text
        .split('\n')
        .flatMap((line) => (line.startsWith(' ') ? line : linesOf(line, columns)))
        .join('\n')
    : text

const longestWord = (text: string): number => widthOf(text.split(' '))

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
  if (isListOfRows(value)) return look.wide ? clean(value.map(rowInWords).join(', ')) : `${countOf(value)}`
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map((entry) => textOf(entry, look)).join(', ')
  if (typeof value === 'object' && isAmount(value)) return formatAmount(value, 'en')
  return clean(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** A deletion step by its name, and what was deleted or kept by its kind and number; what has neither stays JSON. */
function rowInWords(row: Row): string {
  const { step, category, records } = row
  if (typeof step === 'string') return stepName(step)
  return typeof category === 'string' && typeof records === 'number'
    ? `${toLabel(category)}: ${records}`
    : JSON.stringify(row)
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
  if (!unit) return ms < 0 ? 'just now' : 'now'
  const distance = `${round(minutes / unit.minutes)} ${unit.name}`
  return ms < 0 ? `${distance} ago` : `in ${distance}`
}

/** A name that somebody chose must not control the terminal. */
const clean = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�')
