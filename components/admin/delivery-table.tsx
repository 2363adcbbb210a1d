import type * as z from 'zod'
import { delivery } from '@/contract/apps'
import { RelativeTime } from '../ui/relative-time'
import { Attempts } from './attempts'
import { AppLink, type Fields, Word } from './drawn'
import { TablePart } from './part'

interface DeliveryTableProps {
  title: string
  deliveries: readonly z.input<typeof delivery>[]
  none?: string
  /** Whether the rows name their application. */
  namesApp?: boolean
}

const APP: Fields<typeof delivery> = { app_name: ({ app_id, app_name }) => <AppLink id={app_id} name={app_name} /> }

function answerOf({ last_error, last_status, took_ms }: z.input<typeof delivery>): string | null {
  const answer = last_error ?? (last_status ? `HTTP ${last_status}` : null)
  return answer && `${answer}${took_ms === null ? '' : ` after ${took_ms.toLocaleString('en')} ms`}`
}

/** Events and how far their delivery is. */
export const DeliveryTable = ({
  title,
  deliveries,
  none = 'None in the last thirty days, other than deletion tasks.',
  namesApp = false,
}: DeliveryTableProps) => (
  <TablePart
    title={title}
    of={delivery}
    rows={deliveries}
    id="webhook_id"
    fields={{
      type: ({ type, event_id }) => (
        <>
          {type} <span className="block font-mono font-normal text-ink-muted">{event_id}</span>
        </>
      ),
      ...(namesApp && APP),
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
