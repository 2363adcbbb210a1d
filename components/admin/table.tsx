import type { ReactNode } from 'react'
import type * as z from 'zod'
import { cn } from '../ui/class-names'
import { drawn, type Fields, hasValue, type Row } from './drawn'

export interface TableProps<Contract extends z.ZodObject> {
  /** The name of the table for screen readers. */
  label: string
  of: Contract
  rows: readonly Row<Contract>[]
  /** What no two rows share: a field, or a text of several. */
  id: (keyof Row<Contract> & string) | ((row: Row<Contract>) => string)
  /** The columns; the first one is the header of its row. */
  fields: Fields<Contract>
  /** The buttons of a row. */
  actions?: (row: Row<Contract>) => ReactNode
  /** Shown in place of a table without rows. */
  none?: string
}

/** A link in small text is still as high as a finger or a shaky pointer needs, 24 pixels, and its row no higher. */
const cell =
  '[&_a]:my-[calc((1lh-1.5rem)/2)] [&_a]:inline-block [&_a]:py-[calc((1.5rem-1lh)/2)] py-3 align-top @max-2xl:flex @max-2xl:flex-wrap @max-2xl:gap-x-3 @max-2xl:py-1 @max-2xl:has-[>div:empty]:hidden @2xl:in-[tr:last-child]:pb-0 @2xl:pe-6 @2xl:last:pe-0'
/** On a phone the way into a record is as high as a button, and leaves what stands beside it where it is. */
const TAPPED = '@max-2xl:[&_a]:-my-3 @max-2xl:[&_a]:inline-block @max-2xl:[&_a]:py-3'
/** On a phone each value has its label in place of the header: beside it, or above it where large text leaves too little room. A single one needs none. */
const label =
  "@max-2xl:before:w-28 @max-3xs:before:w-24 @max-2xl:before:max-w-full @max-2xl:before:shrink-0 @max-2xl:before:text-ink-muted @max-2xl:before:content-[attr(data-label)_/_'']"

/** A row for each entry; on a phone its fields stand one below the other. */
export function Table<Contract extends z.ZodObject>(props: TableProps<Contract>) {
  const { label: name, of, rows, id, fields, actions, none } = props
  // A column without any value is left out.
  const columns = drawn(of, fields).filter(({ draw }) => rows.some((row) => hasValue(draw(row))))
  if (rows.length === 0) return none && <p className="text-ink-muted">{none}</p>
  return (
    // By its own width: large text leaves as little room as a phone does.
    <div className="@container">
      <table aria-label={name} className="w-full text-sm @max-2xl:block">
        <thead className="@max-2xl:sr-only">
          <tr className="border-line border-b">
            {columns.map((column) => (
              <th
                key={column.field}
                scope="col"
                className="whitespace-nowrap pe-6 pb-2 text-start font-medium text-ink-muted"
              >
                {column.label}
              </th>
            ))}
            {actions && <td />}
          </tr>
        </thead>
        <tbody className="divide-y divide-line @max-2xl:block">
          {rows.map((row) => (
            <tr
              key={typeof id === 'function' ? id(row) : String(row[id])}
              className="@max-2xl:block @max-2xl:py-3 @max-2xl:first:pt-0 @max-2xl:last:pb-0"
            >
              {columns.map(({ field, label: text, draw }, index) =>
                index === 0 ? (
                  <th key={field} scope="row" className={cn(cell, TAPPED, 'wrap-anywhere text-start font-medium')}>
                    {/* A name of one word stays whole beside a long text. */}
                    <div className="@2xl:min-w-24">{draw(row)}</div>
                  </th>
                ) : (
                  <td
                    key={field}
                    data-label={text}
                    className={cn(
                      cell,
                      columns.length > 2 && label,
                      'wrap-anywhere tabular-nums @4xl:[&_time]:whitespace-nowrap',
                    )}
                  >
                    <div className="@max-2xl:min-w-0 @max-2xl:flex-1 @max-2xl:basis-28">{draw(row)}</div>
                  </td>
                ),
              )}
              {actions && (
                <td className={cn(cell, '@max-2xl:pt-3')}>
                  <div className="flex flex-wrap gap-2 @2xl:ms-auto @2xl:w-max @2xl:max-w-60 @2xl:justify-end @2xl:text-end">
                    {actions(row)}
                  </div>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
