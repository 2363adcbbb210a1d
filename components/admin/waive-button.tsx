'use client'

import { useRouter } from 'next/navigation'
import { type ReactNode, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { ShownTask } from '@/contract/tasks'
import { partsOfReason, WAIVE_REASONS } from '@/contract/vocabulary'
import { ConfirmedButton } from '../forms/confirmed-button'
import { Disclosure } from '../ui/disclosure'
import { RadioField } from '../ui/field'
import { Attempts, WillBeAsked } from './attempts'
import { operate, sentenceOf } from './operate'
import { SignInFirst, useNewestAct, useOutcome } from './outcomes'
import { isAsked, willBeCalled } from './words'

interface WaiveButtonProps {
  task: ShownTask
  /** The task, as screen readers say it after the label. */
  of: string
  /** The command that adds a reason. */
  addReason: ReactNode
}

/** The field says it. */
class Unchosen extends Error {}

/** Asks why nobody should wait for the application any more. The reasons are the sentences that the person reads. */
export function WaiveButton({ task, of, addReason }: WaiveButtonProps) {
  const { task_id: id, name, withdrawal_id, waive_reasons } = task
  const reasons = willBeCalled(task) ? WAIVE_REASONS.filter((reason) => reason !== 'unreachable') : WAIVE_REASONS
  const router = useRouter()
  const t = useTranslations('Deletion')
  const [reason, setReason] = useState<string>()
  const [isMissing, setMissing] = useState(false)
  const [isDone, setDone] = useState(false)
  const { begin, note } = useNewestAct()
  useOutcome(isDone ? `Stopped waiting for ${of}.` : '')
  async function waive() {
    if (!reason) {
      setMissing(true)
      document.getElementsByName(`reason-${id}`)[0]?.focus()
      throw new Unchosen()
    }
    begin()
    await operate('waiveTask', { taskId: id }, { reason })
  }
  return (
    <ConfirmedButton
      label={
        <span>
          Stop waiting<span className="sr-only"> for {of}</span>
        </span>
      }
      question={`Stop waiting for ${name}?`}
      consequence={
        <div className="space-y-4">
          <p className="font-medium text-ink">
            {isAsked(task) ? (
              <Attempts of={{ ...task, due_at: null }} />
            ) : task.polls ? (
              'It has not fetched this task yet'
            ) : (
              <>
                It has not been asked yet: <WillBeAsked task={task} />
              </>
            )}
            . <span className="block font-mono font-normal text-ink-muted text-sm">{withdrawal_id}</span>
          </p>
          <p>
            {task.polls ? 'It can no longer fetch this task' : 'It is not asked again about this person'}, and the
            deletion goes on without it. The person reads that it has not confirmed, and the sentence that you choose.
            This cannot be taken back. The audit log notes that you did it.
          </p>
          <RadioField
            legend="What does the person read?"
            appearance="list"
            name={`reason-${id}`}
            options={[
              ...reasons.map((value) => ({ value: value as string, label: t(`apps.waived.${value}`) })),
              ...waive_reasons.map(partsOfReason).map(({ code, sentence }) => ({ value: code, label: sentence })),
            ]}
            {...(isMissing && { error: 'Choose what the person reads.' })}
            onChange={(event) => {
              setReason(event.target.value)
              setMissing(false)
            }}
          />
          <SignInFirst />
          <Disclosure summary="Add another sentence, by a command" className="text-sm">
            <p>This command adds it to the list:</p>
            {addReason}
          </Disclosure>
        </div>
      }
      keep="Keep waiting"
      confirm="Stop waiting"
      act={waive}
      errorText={(error) => (error instanceof Unchosen ? '' : sentenceOf(error))}
      onDone={() => {
        setDone(true)
        note()
        router.refresh()
      }}
    />
  )
}
