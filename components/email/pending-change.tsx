'use client'

import { useEffect, useId, useRef, useState } from 'react'
import { useWatch } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { isUnanswered } from '../api/error-texts'
import { useIsRepeating } from '../api/until-answered'
import { Form } from '../forms/form'
import { SlowHint } from '../forms/slow-hint'
import { Alert } from '../ui/alert'
import { LiveRegion } from '../ui/announcement'
import { Card, CardBody, CardFooter } from '../ui/card'
import { CardHeader } from '../ui/card-header'
import { cn } from '../ui/class-names'
import { useTimeLeft } from '../ui/countdown'
import { Disclosure } from '../ui/disclosure'
import { ErrorAlert } from '../ui/error-alert'
import { useIsAway } from '../ui/service-away'
import { textLink } from '../ui/text-link'
import { useIsFocusLost } from '../ui/use-focus-on-mount'
import { CancelChange } from './cancel-change'
import { CodeEntry } from './code-entry'
import { ResendMessage } from './resend-message'
import { SentTo } from './sent-to'
import { type CodeForm, type CodeFormProps, useCodeForm } from './use-code-form'

interface PendingChangeProps extends Omit<CodeFormProps, 'onSubmit'> {
  /** The account's own address is to be verified. */
  isOwn: boolean
  /** What the mailed link of this change has, with which the page was opened. */
  mailed: { verification_code: string } | undefined
  /** True when it appears after a press; `if-lost` when the page is opened again. */
  takesFocus: boolean | 'if-lost'
  /** The person wants to use another address. */
  onReplace: () => void
  onCancelled: () => void
  /** The cancellation got no answer. */
  onCancelLost: () => void
}

/** On a phone the alert may be below the visible part of the page. */
const showWhole = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })

export function PendingChange(props: PendingChangeProps) {
  const { userId, pending, isOwn, mailed, takesFocus } = props
  const { onVerified, onReplace, onCancelled, onCancelLost, onEnded } = props
  const t = useTranslations('EmailSettings')
  const { isUndeliverable } = pending
  const sentTo = useId()
  const [wasSentAgain, setSentAgain] = useState(false)
  const code = useCodeForm({ userId, pending, onSubmit: () => setSentAgain(false), onVerified, onEnded })
  const { form } = code
  const common = useTranslations('Common')
  const isAway = useIsAway()
  const isRepeating = useIsRepeating()

  const takesCode = useRef(takesFocus)
  const isFocusLost = useIsFocusLost()
  const isFilled = useFilledCode(form, mailed)
  useEffect(() => {
    if (!takesCode.current || isUndeliverable) return
    if (takesCode.current === true || isFocusLost()) form.setFocus('verification_code')
    takesCode.current = false
  }, [form, isUndeliverable, isFocusLost])

  return (
    <Card>
      <Form onSubmit={code.submit}>
        <CardHeader title={t(isOwn ? 'ownTitle' : 'pendingTitle')} aside={<TimeLeft until={pending.expiresAt} />} />
        <CardBody className="flex flex-col gap-5 pt-3">
          <SentTo id={sentTo} pending={pending} isFilled={isFilled} />
          <LiveRegion>
            {wasSentAgain && !isUndeliverable && (
              <Alert tone="success" title={t('sentAgainTitle')} text={t('sentAgainText')} />
            )}
          </LiveRegion>
          {isUndeliverable ? (
            <Disclosure
              summary={t('enterLateCode')}
              onToggle={(event) => event.currentTarget.open && code.focus()}
              className="space-y-3"
            >
              <CodeEntry code={code} />
            </Disclosure>
          ) : (
            <CodeEntry code={code} describedBy={sentTo} />
          )}
          <ErrorAlert ref={showWhole} error={form.formState.errors.root} />
          <LiveRegion>
            {(isAway || isRepeating) && !form.formState.errors.root && (
              <Alert tone="warning" title={common('keepsTrying')} />
            )}
          </LiveRegion>
          <SlowHint isPending={code.isPending && !isAway && !isRepeating} />
        </CardBody>
      </Form>
      <CardFooter>
        {!isUndeliverable && !isFilled && (
          <p className="w-full text-ink-muted text-sm">
            {t.rich('notReceived', {
              replace: (text) => (
                <button type="button" className={cn(textLink, 'text-start')} onClick={onReplace}>
                  {text}
                </button>
              ),
            })}
          </p>
        )}
        <ResendMessage
          userId={userId}
          pending={pending}
          // Cleared at the press and not at the answer, because the newest code may be typed before the answer comes.
          onStart={() => {
            setSentAgain(false)
            form.reset({ verification_code: '' })
          }}
          onSent={() => {
            setSentAgain(true)
            takesCode.current = isUndeliverable
            code.focus()
          }}
          onError={code.refused}
        />
        <CancelChange
          userId={userId}
          pending={pending}
          isOwn={isOwn}
          onCancelled={() => {
            onCancelled()
            return code.readAgain()
          }}
          onRefused={(error) => {
            if (isUnanswered(error)) onCancelLost()
            return code.refused(error)
          }}
        />
      </CardFooter>
    </Card>
  )
}

/** Fills in the code of a mailed link. */
function useFilledCode(form: CodeForm['form'], mailed: PendingChangeProps['mailed']): boolean {
  const typed = useWatch({ control: form.control, name: 'verification_code' })
  useEffect(() => {
    if (!mailed) return
    form.setValue('verification_code', mailed.verification_code)
    form.clearErrors()
    form.setFocus('verification_code')
  }, [form, mailed])
  return mailed !== undefined && typed === mailed.verification_code
}

function TimeLeft({ until }: { until: string }) {
  const t = useTranslations('EmailSettings')
  return (
    <time dateTime={until} className="text-ink-muted text-sm tabular-nums leading-6">
      {t('timeLeft', { time: useTimeLeft(until) })}
    </time>
  )
}
