import type { ReactNode } from 'react'
import { type ShownDelivery, shownDelivery } from '@/contract/operator'
import { nameOfEvent, resultOf } from '@/contract/words'
import { RelativeTime } from '../ui/relative-time'
import { Attempts } from './attempts'
import { AppLink, Word } from './drawn'
import { TablePart } from './part'

interface DeliveryTableProps {
  title: string
  deliveries: readonly ShownDelivery[]
  none?: string
  /** Whether the rows name their application. */
  namesApp?: boolean
  aside?: ReactNode
}

const appName = ({ app_id, app_name }: ShownDelivery) => (
  // A name of one word stays whole beside a long text.
  <div className="@2xl:min-w-24">
    <AppLink id={app_id} name={app_name} />
  </div>
)

function answerOf({ last_error, last_status, took_ms }: ShownDelivery): string | null {
  const answer = last_error ?? (last_status ? `HTTP ${last_status}` : null)
  return answer && `${resultOf(answer)}${took_ms === null ? '' : ` after ${took_ms.toLocaleString('en')} ms`}`
}

/** Events and how far their delivery is. */
export const DeliveryTable = ({
  title,
  deliveries,
  none = 'None in the last thirty days, other than deletion tasks.',
  namesApp = false,
  aside,
}: DeliveryTableProps) => (
  <TablePart
    title={title}
    aside={aside}
    of={shownDelivery}
    rows={deliveries}
    id="webhook_id"
    fields={{
      type: ({ type, event_id }) => (
        <>
          {nameOfEvent(type)}{' '}
          <span className="block font-mono font-normal text-ink-muted @4xl:whitespace-nowrap">{type}</span>
          <span className="block font-mono font-normal text-ink-muted @4xl:whitespace-nowrap">{event_id}</span>
        </>
      ),
      app_name: namesApp && appName,
      created_at: ({ created_at }) => <RelativeTime dateTime={created_at} />,
      status: (row) => (
        <>
          <Word of={row.status} />
          <p className="mt-1 text-ink-muted">
            {row.status === 'pending' ? <Attempts of={{ ...row, last_error: answerOf(row) }} /> : answerOf(row)}
          </p>
        </>
      ),
    }}
    none={none}
  />
)
