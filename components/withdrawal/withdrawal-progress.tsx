'use client'

import { Archive } from 'lucide-react'
import { useTranslations } from 'use-intl/react'
import { secretOfLink } from '../session/link-secret'
import { StatusCard } from '../ui/status-card'
import { BadLink, Progress, type ProgressProps, Reading, Support } from './progress'
import { SaveReceipts, useReceipts } from './save-receipts'

/** The token stays in the address bar, so that a reload works. */
const { useSecret: useStatusToken } = secretOfLink((fields) => {
  const token = fields.get('token')
  return token && /^wst_[\w-]+$/.test(token) ? token : null
})

/** The progress with the token in the link's fragment. */
export function WithdrawalProgress(props: ProgressProps) {
  const token = useStatusToken()
  if (token === undefined) return <Reading />
  if (token === null) return <BadLink name="incomplete" supportEmail={props.supportEmail} />
  return <Progress key={token} token={token} {...props} />
}

interface NotFoundProps extends Omit<ProgressProps, 'userId'> {
  /** The time for which the progress of a deletion can be read. */
  days: number
}

/** Receipts can be read for longer than the progress. */
export function DeletionNotFound({ withdrawalId, days, supportEmail }: NotFoundProps) {
  const t = useTranslations('Deletion')
  const token = useStatusToken()
  const { data: receipts } = useReceipts(withdrawalId, token)
  const isClosed = receipts !== undefined
  return (
    <div className="space-y-6">
      <StatusCard
        heading="h2"
        icon={Archive}
        tone="neutral"
        title={t(isClosed ? 'closedTitle' : 'notFoundTitle')}
        text={t(isClosed ? 'closedText' : 'notFoundText', { days })}
      >
        <Support name="supportPlain" address={supportEmail} />
      </StatusCard>
      {isClosed && token && <SaveReceipts withdrawalId={withdrawalId} token={token} hasApplications={false} />}
    </div>
  )
}
