'use client'

import { useQueryClient } from '@tanstack/react-query'
import { type BaseSyntheticEvent, useEffect, useId, useRef, useState } from 'react'
import { useForm, useWatch } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Answer } from '@/contract/define'
import type { verifyEmail } from '@/contract/email'
import { ApiError, ERRORS } from '@/contract/errors'
import { isUnanswered, useErrorTexts } from '../api/error-texts'
import { rulesOf } from '../api/load-contract'
import { useIsRepeating } from '../api/until-answered'
import { Form } from '../forms/form'
import { SlowHint } from '../forms/slow-hint'
import { Alert } from '../ui/alert'
import { Announcement, LiveRegion } from '../ui/announcement'
import { Button } from '../ui/button'
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
import { CodeField } from './code-field'
import { useVerifyEmail } from './email-calls'
import { emailStatusKey, type Pending } from './email-status'
import { ResendMessage } from './resend-message'

interface PendingChangeProps {
  userId: string
  pending: Pending
  /** The account's own address is to be verified. */
  isOwn: boolean
  /** What the mailed link of this change has, with which the page was opened. */
  mailed: { verification_code: string } | undefined
  /** True when it appears after a press; `if-lost` when the page is opened again. */
  takesFocus: boolean | 'if-lost'
  onVerified: (answer: Answer<typeof verifyEmail>) => void
  /** The person wants to use another address. */
  onReplace: () => void
  onCancelled: () => void
  /** The cancellation got no answer. */
  onCancelLost: () => void
  /** The request can no longer be verified, for the reason in `error`. */
  onEnded: (error: ApiError) => void
}

const resolver = rulesOf((rules) => rules.codeRules)
/** From this number on the page shows the attempts left, because only mistakes lead to it. */
const FEW_ATTEMPTS = 2

/** A refusal that ends the request: one that says so, or the wrong code that used the last attempt. */
function endOf(error: unknown, attemptsRemaining: number): ApiError | null {
  if (!(error instanceof ApiError)) return null
  if (error.code === 'EMAIL_003' && attemptsRemaining <= 1)
    return new ApiError('EMAIL_005', ERRORS.EMAIL_005.details, ERRORS.EMAIL_005.status)
  return ['EMAIL_004', 'EMAIL_005', 'EMAIL_006'].includes(error.code) ? error : null
}

/** On a phone the alert may be below the visible part of the page. */
const showWhole = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })

interface CodeFormProps extends Pick<PendingChangeProps, 'userId' | 'pending' | 'onVerified' | 'onEnded'> {
  onSubmit: () => void
}

/** The form of the code. It also shows refusals of other calls about the same change. */
function useCodeForm({ userId, pending, onSubmit, onVerified, onEnded }: CodeFormProps) {
  const { showError } = useErrorTexts()
  const queryClient = useQueryClient()
  /** The status that tells the attempts left may be older than the refusal. */
  const [leftAtMost, setLeftAtMost] = useState(pending.attemptsRemaining)
  const form = useForm({ resolver, reValidateMode: 'onSubmit' })
  const readAgain = () => queryClient.invalidateQueries({ queryKey: emailStatusKey(userId) })
  const focus = () => form.setFocus('verification_code')
  const refused = (error: unknown) => {
    const end = endOf(error, pending.attemptsRemaining)
    if (end) onEnded(end)
    else if (error instanceof ApiError && error.code === 'EMAIL_003') {
      setLeftAtMost(pending.attemptsRemaining - 1)
      form.setValue('verification_code', '')
      form.setError('verification_code', { type: 'wrong', message: error.code })
      focus()
    } else showError(form, error)
    // Not awaited: the next code would be dropped while the status is being read.
    void readAgain()
  }
  const verify = useVerifyEmail(userId, { onMutate: onSubmit, onSuccess: onVerified, onError: refused })
  // An input method may complete a code twice in one moment, before the page knows of the first call.
  const isSending = useRef(false)
  const send = form.handleSubmit(async ({ verification_code }) => {
    if (isSending.current) return
    isSending.current = true
    const sent = verify.mutateAsync({ change_request_id: pending.changeRequestId, verification_code })
    await sent.catch(() => {}).finally(() => (isSending.current = false))
  })
  const submit = (event?: BaseSyntheticEvent) => {
    // The refusal of a wrong code has emptied the field, and says more than that it is empty.
    const isRefused = form.formState.errors.verification_code?.type === 'wrong' && !form.getValues('verification_code')
    if (!isRefused) return send(event)
    event?.preventDefault()
    focus()
  }
  const left = Math.min(pending.attemptsRemaining, leftAtMost)
  return { form, left, submit, isPending: verify.isPending, focus, refused, readAgain }
}

type CodeForm = ReturnType<typeof useCodeForm>['form']

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
          <ErrorAlert ref={showWhole}>{form.formState.errors.root?.message}</ErrorAlert>
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
function useFilledCode(form: CodeForm, mailed: PendingChangeProps['mailed']): boolean {
  const typed = useWatch({ control: form.control, name: 'verification_code' })
  useEffect(() => {
    if (!mailed) return
    form.setValue('verification_code', mailed.verification_code)
    form.clearErrors()
    form.setFocus('verification_code')
  }, [form, mailed])
  return mailed !== undefined && typed === mailed.verification_code
}

interface SentToProps {
  id: string
  pending: Pending
  /** Whether the code of the message is in the field. */
  isFilled: boolean
}

/** Says where the newest message went, or that it came back. */
function SentTo({ id, pending: { newEmail: email, isUndeliverable }, isFilled }: SentToProps) {
  const t = useTranslations('EmailSettings')
  return (
    <>
      <LiveRegion>
        {isUndeliverable && (
          <Announcement takesFocus="if-lost">
            <Alert tone="danger" title={t('undeliverableTitle')} text={t('undeliverableText', { email })} />
          </Announcement>
        )}
      </LiveRegion>
      {!isUndeliverable && (
        <div id={id} className="space-y-1.5">
          <p className="wrap-anywhere font-medium text-lg leading-7 tracking-[-0.01em]">
            <bdi>{email}</bdi>
          </p>
          <p className="text-ink-muted">{t(isFilled ? 'codeFilled' : 'codeSent')}</p>
        </div>
      )}
    </>
  )
}

interface CodeEntryProps {
  code: ReturnType<typeof useCodeForm>
  /** The id of the text that says where the code went. */
  describedBy?: string
}

function CodeEntry({ code: { form, left, submit, isPending }, describedBy }: CodeEntryProps) {
  const t = useTranslations('EmailSettings')
  const { fieldText } = useErrorTexts()
  const { verification_code: error } = form.formState.errors
  const isWrong = error?.type === 'wrong'
  return (
    <CodeField
      label={t('codeLabel')}
      describedBy={describedBy}
      hint={!isWrong && left <= FEW_ATTEMPTS && t('attemptsLeft', { count: left })}
      error={isWrong ? t('wrongCode', { left }) : fieldText(error)}
      onComplete={() => void submit()}
      action={
        <Button type="submit" isPending={isPending} className="h-13! w-full px-6! sm:w-auto">
          {t('verify')}
        </Button>
      }
      {...form.register('verification_code', { onChange: () => form.clearErrors() })}
    />
  )
}

function TimeLeft({ until }: { until: string }) {
  const t = useTranslations('EmailSettings')
  return (
    <time dateTime={until} className="text-ink-muted text-sm tabular-nums leading-6">
      {t('timeLeft', { time: useTimeLeft(until) })}
    </time>
  )
}
