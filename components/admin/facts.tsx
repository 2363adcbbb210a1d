import type * as z from 'zod'
import { cn } from '../ui/class-names'
import { drawn, type Fields, hasValue, type Row } from './drawn'

interface FactsProps<Contract extends z.ZodObject> {
  of: Contract
  row: Row<Contract>
  fields: Fields<Contract>
  className?: string
}

/** The fields of one row, each with its label. A field without a value is left out. */
export const Facts = <Contract extends z.ZodObject>({ of, row, fields, className }: FactsProps<Contract>) => (
  // By its own width: large text leaves as little room as a phone does.
  <div className="@container">
    <dl
      className={cn(
        'grid grid-cols-1 gap-x-6 gap-y-3 @lg:grid-cols-[minmax(10rem,max-content)_minmax(0,1fr)] @lg:gap-y-2',
        className,
      )}
    >
      {drawn(of, fields).map(({ field, label, draw }) => {
        const value = draw(row)
        return (
          hasValue(value) && (
            <div key={field} className="@lg:contents">
              <dt className="text-ink-muted">{label}</dt>
              <dd className="wrap-anywhere tabular-nums">{value}</dd>
            </div>
          )
        )
      })}
    </dl>
  </div>
)
