import { CloudOff } from 'lucide-react'
import type { ReactNode } from 'react'
import { Card, CardBody, CardHeader } from '../ui/card'

interface PartProps {
  title: string
  description?: ReactNode
  aside?: ReactNode
  children: ReactNode
}

/** A part of a page, in a card of its own. */
export const Part = ({ children, ...header }: PartProps) => (
  <Card>
    <CardHeader {...header} />
    <CardBody>{children}</CardBody>
  </Card>
)

/** Stands in place of what could not be read. */
export const Unread = () => (
  <p className="flex items-center gap-3 text-ink-muted">
    <CloudOff className="size-5 shrink-0 text-warning" aria-hidden />
    The database did not answer in time. The next refresh reads it again.
  </p>
)
