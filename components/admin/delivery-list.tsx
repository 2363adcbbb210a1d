'use client'

import Link from 'next/link'
import type * as z from 'zod'
import type { delivery } from '@/contract/apps'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { RelativeTime } from '../ui/relative-time'
import { textLink } from '../ui/text-link'
import { count } from './words'

export type Delivery = z.input<typeof delivery>

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
            <DeliveryRow key={delivery.webhook_id} delivery={delivery} renderedAt={renderedAt} isOfPage />
          ))}
        </ul>
      )}
    </CardBody>
  </Card>
)

interface DeliveryRowProps {
  delivery: Delivery
  renderedAt: string
  /** The page is that of its application. */
  isOfPage?: boolean
}

export function DeliveryRow({ delivery, renderedAt, isOfPage = false }: DeliveryRowProps) {
  const [tone, label] = STATES[delivery.status]
  const answer = delivery.last_error ?? (delivery.last_status ? `HTTP ${delivery.last_status}` : null)
  return (
    <li className="space-y-0.5 py-3 first:pt-0 last:pb-0">
      <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <span className="wrap-anywhere font-medium">
          {delivery.type}
          {!isOfPage && (
            <>
              {' '}
              to{' '}
              <Link href={`/admin/apps/${delivery.app_id}`} className={textLink}>
                {delivery.app_name}
              </Link>
            </>
          )}
        </span>
        <Badge tone={tone}>{label}</Badge>
      </p>
      <p className="text-ink-muted text-sm tabular-nums">
        <span className="wrap-anywhere font-mono">{delivery.event_id}</span>,{' '}
        <RelativeTime dateTime={delivery.created_at} renderedAt={renderedAt} />, {count(delivery.attempts, 'attempt')}
        {answer && `, last answer ${answer}`}
        {delivery.took_ms !== null && ` after ${delivery.took_ms.toLocaleString('en')} ms`}
      </p>
    </li>
  )
}
