import { CloudOff } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import type * as z from 'zod'
import { Card, CardBody, CardHeader } from '../ui/card'
import { Table, type TableProps } from './table'

/** A part of a page, in a card of its own. */
export const Part = ({ children, ...header }: ComponentProps<typeof CardHeader> & { children: ReactNode }) => (
  <Card>
    <CardHeader {...header} />
    <CardBody>{children}</CardBody>
  </Card>
)

type TablePartProps<Contract extends z.ZodObject> = Omit<TableProps<Contract>, 'label'> &
  Pick<ComponentProps<typeof CardHeader>, 'title' | 'description'>

/** A part that is one table. */
export const TablePart = <Contract extends z.ZodObject>({ title, description, ...table }: TablePartProps<Contract>) => (
  <Part title={title} description={description}>
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
