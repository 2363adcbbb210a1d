'use client'

import type * as z from 'zod'
import type { delivery } from '@/contract/apps'
import { Badge } from '../ui/badge'
import { RelativeTime } from '../ui/relative-time'
import { AppLink } from './links'
import { Row, Section } from './section'
import { count } from './words'

export type Delivery = z.input<typeof delivery>

const STATES = {
  delivered: ['success', 'Delivered'],
  pending: ['neutral', 'Waiting'],
  dead: ['danger', 'Dead letter'],
} as const

export const DeliveryList = ({ title, deliveries }: { title: string; deliveries: readonly Delivery[] }) => (
  <Section title={title} none="Nothing in the last thirty days." rows={deliveries}>
    {(delivery) => <DeliveryRow key={delivery.webhook_id} delivery={delivery} isOfPage />}
  </Section>
)

interface DeliveryRowProps {
  delivery: Delivery
  /** Whether the row stands on the page of its application. */
  isOfPage?: boolean
}

export function DeliveryRow({ delivery, isOfPage = false }: DeliveryRowProps) {
  const [tone, label] = STATES[delivery.status]
  const answer = delivery.last_error ?? (delivery.last_status ? `HTTP ${delivery.last_status}` : null)
  return (
    <Row
      title={
        <>
          {delivery.type}
          {!isOfPage && (
            <>
              {' '}
              to <AppLink id={delivery.app_id} name={delivery.app_name} />
            </>
          )}
        </>
      }
      badge={<Badge tone={tone}>{label}</Badge>}
    >
      <span className="font-mono">{delivery.event_id}</span>, <RelativeTime dateTime={delivery.created_at} />,{' '}
      {count(delivery.attempts, 'attempt')}
      {answer && `, last answer ${answer}`}
      {delivery.took_ms !== null && ` after ${delivery.took_ms.toLocaleString('en')} ms`}
    </Row>
  )
}
