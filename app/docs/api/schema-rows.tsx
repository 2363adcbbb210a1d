import * as z from 'zod'
import { Described, type ReferenceRow, ReferenceRows } from '@/components/docs/reference-rows'

export interface JsonField {
  type?: string | string[]
  format?: string
  description?: string
  properties?: Record<string, JsonField>
  items?: JsonField
  anyOf?: JsonField[]
  required?: string[]
  enum?: string[]
  const?: unknown
  default?: string
  pattern?: string
  minLength?: number
  maxLength?: number
}

/** The members of a body, an answer or a message, at any depth. `of` is the anchor that theirs begin with. */
export const SchemaRows = ({ schema, io, of }: { schema: z.ZodType; io: 'input' | 'output'; of: string }) => (
  <ReferenceRows
    rows={fieldRows(z.toJSONSchema(schema, { io }) as JsonField, { isInput: io === 'input' }).map((row) => ({
      ...row,
      id: `${of}.${row.key}`,
    }))}
  />
)

/** The names of the members, as the rows name them, each with the words that it may be. */
export const namesIn = (schema: JsonField): string[] =>
  fieldRows(schema, { isInput: true }).map(({ key, choices }) => [key, ...choices].join(' '))

const choicesOf = (field: JsonField) =>
  field.enum ?? field.anyOf?.find((one) => one.enum)?.enum ?? field.items?.enum ?? []

interface FieldRow extends ReferenceRow {
  choices: readonly string[]
}

function fieldRows(schema: JsonField, { isInput, prefix = '' }: { isInput: boolean; prefix?: string }): FieldRow[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([name, field]) => {
    const key = prefix + name
    const isAlways = required.includes(name)
    const presence = isInput ? (isAlways ? 'required' : 'optional') : isAlways ? '' : 'may be absent'
    const inner = [field.items, ...(field.anyOf ?? [])].find((one) => one?.properties) ?? field
    return [
      {
        key,
        name: key,
        note: [typeOf(field), presence].filter(Boolean).join(', '),
        text: <Described text={sentenceOf(field)} />,
        choices: choicesOf(field),
      },
      ...fieldRows(inner, { isInput, prefix: `${key}${inner === field.items ? '[].' : '.'}` }),
    ]
  })
}

/** A query has its numbers as text, whose pattern begins with a digit from 1. */
const isNumber = (pattern = '') => /^\^\(?\[1-9\]/.test(pattern)

function typeOf({ type, format, anyOf, items, pattern, const: fixed, enum: choices }: JsonField): string {
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (type === 'array') return items ? `list of ${typeOf(items)}` : 'list'
  if (type === 'string' && isNumber(pattern)) return 'integer'
  if (format === 'date-time') return 'time'
  if (type === undefined) return typeof (fixed ?? choices?.[0] ?? '')
  return [type].flat().join(' or ')
}

const sentenceOf = (field: JsonField) =>
  [field.description, ...rulesOf(field)].filter(Boolean).join('. ').concat('.').replace('..', '.')

/** A longer pattern, a choice, or one that only excludes characters, is for machines, which read it in the OpenAPI document. */
const isForPeople = (pattern: string) => pattern.length <= 40 && !pattern.startsWith('^[^') && !pattern.includes('|')

/** The rules that the description does not name already. */
function rulesOf(field: JsonField): string[] {
  const { description = '', default: preset, pattern, minLength, maxLength, const: fixed } = field
  const choices = choicesOf(field)
  const rules: string[] = []
  if (choices.length > 0) rules.push(`One of ${choices.map((choice) => `\`${choice}\``).join(', ')}`)
  if (fixed !== undefined && !description.includes(String(fixed))) rules.push(`Always \`${fixed}\``)
  if (preset !== undefined) rules.push(`Default \`${preset}\``)
  if (pattern && isForPeople(pattern)) rules.push(`Pattern \`${pattern}\``)
  if (maxLength !== undefined && maxLength <= 10_000 && !description.includes(String(maxLength)))
    rules.push(minLength === undefined ? `At most ${maxLength} characters` : `${minLength} to ${maxLength} characters`)
  return rules
}
