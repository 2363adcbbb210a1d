import { CloudOff } from 'lucide-react'
import { Card, CardBody, CardHeader } from '../ui/card'

/** Stands in place of a part whose statement failed. */
export const UnreadLine = () => (
  <p className="flex items-center gap-3 text-ink-muted">
    <CloudOff className="size-5 shrink-0 text-warning" aria-hidden />
    The database did not answer in time. The next refresh reads it again.
  </p>
)

export const Unread = ({ title }: { title: string }) => (
  <Card>
    <CardHeader title={title} />
    <CardBody>
      <UnreadLine />
    </CardBody>
  </Card>
)
