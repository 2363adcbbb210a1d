import type { ReactNode } from 'react'
import type * as z from 'zod'
import { delivery } from '@/contract/apps'
import { nameOfEvent } from '@/contract/words'
import { RelativeTime } from '../ui/relative-time'
import { Attempts } from './attempts'
import { AppLink, type Fields, Word } from './drawn'
import { TablePart } from './part'
import { resultOf } from './words'

interface DeliveryTableProps {
  title: string
  deliveries: readonly z.input<typeof delivery>[]
  none?: string
  /** Whether the rows name their application. */
  namesApp?: boolean
  /** When somebody last had all of them tried again that had failed. */
  retriedAt?: string | undefined
  aside?: ReactNode
}

const APP: Fields<typeof delivery> = {
  // A name of one word stays whole beside a long text.
  app_name: ({ app_id, app_name }) => (
    <div className="@2xl:min-w-24">
      <AppLink id={app_id} name={app_name} />
    </div>
  ),
}

function answerOf({ last_error, last_status, took_ms }: z.input<typeof delivery>): string | null {
  const answer = last_error ?? (last_status ? `HTTP ${last_status}` : null)
  return answer && `${resultOf(answer)}${took_ms === null ? '' : ` after ${took_ms.toLocaleString('en')} ms`}`
}

const failedAgain = ({ attempts, created_at, tried_at }: z.input<typeof delivery>, retriedAt: string | undefined) =>
  retriedAt && attempts > 1 && tried_at && created_at < retriedAt && retriedAt <= tried_at ? retriedAt : null

/** Events and how far their delivery is. */
export const DeliveryTable = ({
  title,
  deliveries,
  none = 'None in the last thirty days, other than deletion tasks.',
  namesApp = false,
  retriedAt,
  aside,
}: DeliveryTableProps) => (
  <TablePart
    title={title}
    aside={aside}
    of={delivery}
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
      ...(namesApp && APP),
      created_at: ({ created_at }) => <RelativeTime dateTime={created_at} />,
      status: (row) => (
        <>
          <Word of={row.status} />
          <p className="mt-1 text-ink-muted">
            {row.status === 'pending' ? (
              <Attempts of={{ ...row, last_error: answerOf(row), retried_at: failedAgain(row, retriedAt) }} />
            ) : (
              answerOf(row)
            )}
          </p>
        </>
      ),
    }}
    none={none}
  />
)
