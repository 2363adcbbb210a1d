'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'
import type { ShownTask } from '@/contract/tasks'
import { partsOfReason, WAIVE_REASONS } from '@/contract/vocabulary'
import { ConfirmedButton } from '../forms/confirmed-button'
import { RadioField } from '../ui/field'
import { operate, sentenceOf } from './operate'
import { Retry } from './retry-button'

const reasonTexts = {
  gone: 'The application no longer exists',
  refused: 'It refuses to delete the data',
  unreachable: 'It cannot be reached',
} as const

/** The buttons of a deletion task. */
export function TaskActions({ task }: { task: ShownTask }) {
  const { task_id: id, name, attempts, last_error } = task
  const router = useRouter()
  const [reason, setReason] = useState<string>(WAIVE_REASONS[0])
  return (
    <div className="flex flex-wrap gap-2 md:justify-end">
      {attempts > 0 && (
        <Retry id={id} kind="task" of={`the task of ${name}`} attempts={attempts} lastError={last_error} />
      )}
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
              first, as a sentence for the person: <code>app set --waive-reason</code>. This cannot be taken back, and
              is written into the audit log.
            </p>
            <RadioField
              legend="Why?"
              appearance="list"
              name={`reason-${id}`}
              options={[
                ...WAIVE_REASONS.map((value) => ({ value: value as string, label: reasonTexts[value] })),
                ...task.waive_reasons
                  .map(partsOfReason)
                  .map(({ code, sentence }) => ({ value: code, label: sentence })),
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
    </div>
  )
}
