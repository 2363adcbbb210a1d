'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'
import type { ShownTask } from '@/contract/tasks'
import { partsOfReason, WAIVE_REASONS } from '@/contract/vocabulary'
import { ConfirmedButton } from '../forms/confirmed-button'
import { RadioField } from '../ui/field'
import { operate, sentenceOf } from './operate'

const reasonTexts = {
  gone: 'The application no longer exists',
  refused: 'It refuses to delete the data',
  unreachable: 'It cannot be reached',
} as const

/** Asks why nobody should wait for the application any more. */
export function WaiveButton({ task: { task_id: id, name, waive_reasons } }: { task: ShownTask }) {
  const router = useRouter()
  const [reason, setReason] = useState<string>(WAIVE_REASONS[0])
  return (
    <ConfirmedButton
      label={
        <span>
          Stop waiting<span className="sr-only"> for the task of {name}</span>
        </span>
      }
      question={`Stop waiting for ${name}?`}
      consequence={
        <div className="space-y-4">
          <p>
            The person reads that it has not confirmed, and why. Any other reason is registered with the application
            first, as a sentence for the person: <code>app set --waive-reason</code>. This cannot be taken back, and is
            written into the audit log.
          </p>
          <RadioField
            legend="Why?"
            appearance="list"
            name={`reason-${id}`}
            options={[
              ...WAIVE_REASONS.map((value) => ({ value: value as string, label: reasonTexts[value] })),
              ...waive_reasons.map(partsOfReason).map(({ code, sentence }) => ({ value: code, label: sentence })),
            ]}
            defaultValue={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </div>
      }
      keep="Keep waiting"
      confirm="Stop waiting"
      act={() => operate('waiveTask', { taskId: id }, { reason })}
      errorText={sentenceOf}
      onDone={() => router.refresh()}
    />
  )
}
