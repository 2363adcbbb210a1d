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

const cell =
  'py-3 align-top max-md:flex max-md:flex-wrap max-md:gap-x-3 max-md:py-1 max-md:has-[>div:empty]:hidden md:in-[tr:last-child]:pb-0 md:pe-6 md:last:pe-0'
/** On a phone each value has its label in place of the header: beside it, or above it where large text leaves too little room. */
const label =
  "max-md:before:w-28 max-md:before:max-w-full max-md:before:shrink-0 max-md:before:text-ink-muted max-md:before:content-[attr(data-label)_/_'']"

/** A row for each entry; on a phone its fields stand one below the other. */
export function Table<Contract extends z.ZodObject>(props: TableProps<Contract>) {
  const { label: name, of, rows, id, fields, actions, none } = props
  // A column without any value is left out.
  const columns = drawn(of, fields).filter(({ draw }) => rows.some((row) => hasValue(draw(row))))
  if (rows.length === 0) return none && <p className="text-ink-muted">{none}</p>
  return (
    <table aria-label={name} className="w-full text-sm max-md:block">
      <thead className="max-md:sr-only">
        <tr className="border-line border-b">
          {columns.map((column) => (
            <th key={column.field} scope="col" className="pe-6 pb-2 text-start font-medium text-ink-muted">
              {column.label}
            </th>
          ))}
          {actions && <td />}
        </tr>
      </thead>
      <tbody className="divide-y divide-line max-md:block">
        {rows.map((row) => (
          <tr
            key={typeof id === 'function' ? id(row) : String(row[id])}
            className="max-md:block max-md:py-3 max-md:first:pt-0 max-md:last:pb-0"
          >
            {columns.map(({ field, label: text, draw }, index) =>
              index === 0 ? (
                <th key={field} scope="row" className={cn(cell, 'wrap-anywhere text-start font-medium')}>
                  {draw(row)}
                </th>
              ) : (
                <td key={field} data-label={text} className={cn(cell, label, 'wrap-anywhere tabular-nums')}>
                  <div className="max-md:min-w-0 max-md:flex-1 max-md:basis-32">{draw(row)}</div>
                </td>
              ),
            )}
            {actions && (
              <td className={cn(cell, 'max-md:pt-3')}>
                <div className="flex flex-wrap gap-2 md:ms-auto md:w-max md:max-w-60 md:justify-end">
                  {actions(row)}
                </div>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
