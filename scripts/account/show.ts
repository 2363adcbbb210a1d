type Row = Record<string, unknown>

/** An answer for people: a line for each member, and a table for each list of objects. */
export function showAnswer(answer: object): string {
  const members = Object.entries(answer).flatMap(flatten)
  const isTable = ([, value]: [string, unknown]) => isListOfRows(value)
  const lines = members.filter((member) => !isTable(member)).map(([name, value]) => [name, textOf(value)])
  const tables = members.filter(isTable).map(([name, rows]) => [titleOf(name), ...tableOf(rows as Row[])])
  return `${[columns(lines), ...tables]
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`
}

/** The members of an object within an object get both names. */
function flatten([name, value]: [string, unknown]): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value]]
  return Object.entries(value).flatMap(([inner, value]) => flatten([`${name}.${inner}`, value]))
}

const isListOfRows = (value: unknown): value is Row[] =>
  Array.isArray(value) && value.length > 0 && value.every((row) => typeof row === 'object' && row !== null)

const titleOf = (name: string): string => `${clean(name)}:`

function tableOf(rows: Row[]): string[] {
  const flat = rows.map((row) => Object.fromEntries(Object.entries(row).flatMap(flatten)))
  const names = [...new Set(flat.flatMap((row) => Object.keys(row)))]
  return columns([names, ...flat.map((row) => names.map((name) => textOf(row[name])))])
}

function columns(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => [...(row[column] ?? '')].length)))
  const pad = (text: string, column: number) => text + ' '.repeat((widths[column] ?? 0) - [...text].length)
  return rows.map((row) => row.map(pad).join('  ').trimEnd())
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(textOf).join(', ')
  return clean(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** A name that somebody chose must not control the terminal. */
const clean = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�')
