import { CloudOff } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import type * as z from 'zod'
import { Card, CardBody } from '../ui/card'
import { CardHeader } from '../ui/card-header'
import { Table, type TableProps } from './table'

interface PartProps extends ComponentProps<typeof CardHeader> {
  id?: string
  /** The sentence of a part that has nothing to show: it stands in one line with the title. */
  none?: ReactNode
  children: ReactNode
}

/** A part of a page, in a card of its own. */
export const Part = ({ id, none, children, ...header }: PartProps) =>
  none ? (
    <Card id={id} className="flex flex-wrap items-baseline gap-x-4 px-5 py-3.5 sm:px-6">
      <h2 className="font-semibold tracking-[-0.01em]">{header.title}</h2>
      <div className="text-ink-muted">{none}</div>
    </Card>
  ) : (
    <Card id={id} className="scroll-mt-6">
      <CardHeader {...header} />
      <CardBody>{children}</CardBody>
    </Card>
  )

type TablePartProps<Contract extends z.ZodObject> = Omit<TableProps<Contract>, 'label' | 'none'> &
  Pick<PartProps, 'title' | 'description' | 'aside'> & { none: ReactNode }

/** A part that is one table. */
export const TablePart = <Contract extends z.ZodObject>({
  title,
  description,
  aside,
  none,
  ...table
}: TablePartProps<Contract>) => (
  <Part title={title} description={description} aside={aside} none={table.rows.length === 0 && none}>
    <Table label={title} {...table} />
  </Part>
)

/** Stands in place of what could not be read. */
export const Unread = () => (
  <p className="flex items-center gap-3 text-ink-muted">
    <CloudOff className="size-5 shrink-0 text-warning" aria-hidden />
    The database did not answer in time. The next refresh reads it again.
  </p>
)
