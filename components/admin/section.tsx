import type { ReactNode } from 'react'
import { Card, CardBody, CardHeader } from '../ui/card'

interface RowListProps<T> {
  rows: readonly T[]
  /** Said where there are no rows. */
  none: string
  children: (row: T) => ReactNode
}

export const RowList = <T,>({ rows, none, children }: RowListProps<T>) =>
  rows.length > 0 ? (
    <ul className="divide-y divide-line">{rows.map(children)}</ul>
  ) : (
    <p className="text-ink-muted">{none}</p>
  )

/** A card that is one list. */
export const Section = <T,>({ title, ...list }: RowListProps<T> & { title: string }) => (
  <Card>
    <CardHeader title={title} />
    <CardBody>
      <RowList {...list} />
    </CardBody>
  </Card>
)

interface RowProps {
  title: ReactNode
  badge?: ReactNode
  aside?: ReactNode
  children: ReactNode
}

export const Row = ({ title, badge, aside, children }: RowProps) => (
  <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3 py-4 first:pt-0 last:pb-0">
    <div className="min-w-0 space-y-0.5">
      <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <span className="wrap-anywhere min-w-0 font-medium">{title}</span>
        {badge}
      </p>
      <div className="wrap-anywhere text-ink-muted text-sm tabular-nums">{children}</div>
    </div>
    {aside}
  </li>
)
