'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'
import type { ShownTask } from '@/contract/tasks'
import { WAIVE_REASONS, type WaiveReason } from '@/contract/vocabulary'
import { ConfirmedButton } from '../forms/confirmed-button'
import { RadioField } from '../ui/field'
import { operate, sentenceOf } from './operate'

const reasonTexts = {
  gone: 'The application no longer exists',
  refused: 'It refuses to delete the data',
  unreachable: 'It cannot be reached',
  other: 'Another reason',
} as const

/** Asks why nobody should wait for the application any more. */
export function WaiveButton({ task: { task_id: id, name } }: { task: ShownTask }) {
  const router = useRouter()
  const [reason, setReason] = useState<WaiveReason>(WAIVE_REASONS[0])
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
            The person reads that it has not confirmed, and why. This cannot be taken back, and is written into the
            audit log.
          </p>
          <RadioField
            legend="Why?"
            appearance="list"
            name={`reason-${id}`}
            options={WAIVE_REASONS.map((value) => ({ value, label: reasonTexts[value] }))}
            defaultValue={reason}
            onChange={(event) => setReason(event.target.value as WaiveReason)}
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
