'use client'

import { useRouter } from 'next/navigation'
import { type ReactNode, useEffect, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { ShownTask } from '@/contract/tasks'
import { partsOfReason, WAIVE_REASONS } from '@/contract/vocabulary'
import { ConfirmedButton } from '../forms/confirmed-button'
import { Disclosure } from '../ui/disclosure'
import { RadioField } from '../ui/field'
import { LocalTime } from '../ui/local-time'
import { useServerTime } from '../ui/server-clock'
import { Attempts, FirstRequest } from './attempts'
import { operate, sentenceOf } from './operate'
import { SignInFirst, useNewestAct, useOutcome, useUndone } from './outcomes'
import { isRequested, willBeCalled } from './words'

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
  const options = [
    ...reasons.map((code) => ({ code: code as string, sentence: t(`apps.waived.${code}`) })),
    ...waive_reasons.map(partsOfReason),
  ]
  const undone = useUndone('waiveTask', { taskId: id })
  const wanted = undone?.[2] as { reason?: string } | undefined
  const kept = options.find(({ code }) => code === wanted?.reason)?.code
  const [chosen, setChosen] = useState<string>()
  const reason = chosen ?? kept
  useEffect(() => {
    // The dialog that opens itself would focus the first answer.
    if (kept) document.querySelector(`[name="reason-${id}"]:checked`)?.setAttribute('autofocus', '')
  }, [kept, id])
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
            {isRequested(task) ? (
              <Attempts of={{ ...task, due_at: null, retried_at: null }} />
            ) : task.polls ? (
              'It has not fetched this task yet'
            ) : (
              <>
                It has not been asked yet: <FirstRequest task={task} />
              </>
            )}
            . <span className="block font-mono font-normal text-ink-muted text-sm">{withdrawal_id}</span>
          </p>
          <p>
            {task.polls ? 'It can no longer fetch this task' : 'It is not asked again about this person'}, and the
            deletion goes on without it. This cannot be undone. The audit log notes that you did it.
          </p>
          <RadioField
            key={kept}
            defaultValue={kept ?? ''}
            legend="What does the person read?"
            appearance="list"
            name={`reason-${id}`}
            options={options.map(({ code, sentence }) => ({ value: code, label: sentence }))}
            {...(isMissing && { error: 'Choose what the person reads.' })}
            onChange={(event) => {
              setChosen(event.target.value)
              setMissing(false)
            }}
          />
          <WhatIsRead name={name} sentence={options.find(({ code }) => code === reason)?.sentence} />
          <SignInFirst act={['waiveTask', { taskId: id }, { reason }]} />
          <Disclosure summary="Add another sentence, by a command" className="text-sm">
            <p>This command adds it to the list:</p>
            {addReason}
          </Disclosure>
        </div>
      }
      opensItself={undone !== null}
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

/** The texts of the progress page and of the receipt, in English; each person reads them in their own language. */
function WhatIsRead({ name, sentence }: { name: string; sentence: string | undefined }) {
  const t = useTranslations('Deletion')
  const receipts = useTranslations('Receipts')
  const now = new Date(useServerTime()).toISOString()
  return (
    <dl className="space-y-3 rounded-lg border border-line p-4 text-sm" aria-live="polite">
      <div>
        <dt className="text-ink-muted">On the page of the deletion, in the person’s language</dt>
        <dd className="wrap-anywhere text-ink">
          <b className="font-medium">{name}</b>: {t('apps.notConfirmed')}. {sentence ?? '[Your choice above]'}{' '}
          {t.rich('apps.waivedAt', { date: () => <LocalTime dateTime={now} format="date" /> })}
        </dd>
      </div>
      <div>
        <dt className="text-ink-muted">On the receipt</dt>
        <dd className="wrap-anywhere text-ink">
          {receipts('unconfirmed', { count: 1 })}{' '}
          {receipts('appLine', { app: name, answer: receipts('answers.waived') })}
        </dd>
      </div>
    </dl>
  )
}
