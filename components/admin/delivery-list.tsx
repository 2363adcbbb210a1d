'use client'

import type { listEvents } from '@/contract/apps'
import type { Data } from '@/contract/define'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { RelativeTime } from '../ui/relative-time'

type Delivery = Data<typeof listEvents>['deliveries'][number]

const STATES = {
  delivered: ['success', 'Delivered'],
  pending: ['neutral', 'Waiting'],
  dead: ['danger', 'Dead letter'],
} as const

interface DeliveryListProps {
  title: string
  deliveries: readonly Delivery[]
  renderedAt: string
}

export const DeliveryList = ({ title, deliveries, renderedAt }: DeliveryListProps) => (
  <Card>
    <CardHeader title={title} />
    <CardBody>
      {deliveries.length === 0 ? (
        <p className="text-ink-muted">Nothing in the last thirty days.</p>
      ) : (
        <ul className="divide-y divide-line">
          {deliveries.map((delivery) => (
            <DeliveryRow key={delivery.webhook_id} delivery={delivery} renderedAt={renderedAt} />
          ))}
        </ul>
      )}
    </CardBody>
  </Card>
)

function DeliveryRow({ delivery, renderedAt }: { delivery: Delivery; renderedAt: string }) {
  const [tone, label] = STATES[delivery.status]
  const answer = delivery.last_error ?? (delivery.last_status ? `HTTP ${delivery.last_status}` : null)
  return (
    <li className="space-y-0.5 py-3 first:pt-0 last:pb-0">
      <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <span className="wrap-anywhere font-medium">{delivery.type}</span>
        <Badge tone={tone}>{label}</Badge>
      </p>
      <p className="text-ink-muted text-sm tabular-nums">
        <span className="wrap-anywhere font-mono">{delivery.event_id}</span>,{' '}
        <RelativeTime dateTime={delivery.created_at} renderedAt={renderedAt} />,{' '}
        {delivery.attempts === 1 ? '1 attempt' : `${delivery.attempts} attempts`}
        {answer && `, last answer ${answer}`}
        {delivery.took_ms !== null && ` after ${delivery.took_ms.toLocaleString('en')} ms`}
      </p>
    </li>
  )
}
