'use client'

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link2Off, Trash2, WifiOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useLocale, useTranslations } from 'use-intl/react'
import type { Answer } from '@/contract/define'
import { ApiError } from '@/contract/errors'
import { WITHDRAWAL_LINK_TOKEN } from '@/contract/vocabulary'
import type { previewRequestedWithdrawal } from '@/contract/withdrawal-request'
import { useErrorTexts } from '../api/error-texts'
import { callWith, preloadContract, rulesOf } from '../api/load-contract'
import { endOfLink, READ_ONCE, secretOfLink } from '../session/link-secret'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { ErrorAlert } from '../ui/error-alert'
import { mailLink } from '../ui/mail-link'
import { Rows } from '../ui/rows'
import { StatusCard } from '../ui/status-card'
import { Blockers, type HeldBack } from './blockers'
import { useCategoryTexts } from './category-texts'
import { PhraseField } from './phrase-field'
import type { WithdrawValues } from './withdraw-rules'

const { useSecret, clear } = secretOfLink<string>((fields) => {
  const token = fields.get('token') ?? ''
  return WITHDRAWAL_LINK_TOKEN.test(token) ? token : null
})

interface ConfirmDeletionProps {
  supportEmail: string
  /** “7 days”: the time in which all steps should be done. */
  deletedWithin: string
  retentionDays: number
}

/** What a mailed deletion link opens. Nothing is deleted before the form is sent. */
export function ConfirmDeletion(props: ConfirmDeletionProps) {
  const token = useSecret()
  if (token === undefined) return <Reading supportEmail={props.supportEmail} />
  if (token === null) return endOfLink() === 'spent' ? <NoLongerWorks /> : <BadLink name="incomplete" />
  return <OpenedLink key={token} token={token} {...props} />
}

const isRefused = (error: unknown) => error instanceof ApiError && error.code === 'WITHDRAWAL_006'

function OpenedLink({ token, ...props }: ConfirmDeletionProps & { token: string }) {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['deletion-link', token],
    queryFn: () => callWith(() => token, 'previewRequestedWithdrawal', {}),
    ...READ_ONCE,
  })
  if (isRefused(error)) return <NoLongerWorks />
  if (!data && error) return <Unread error={error} isPending={isFetching} onRetry={() => refetch()} />
  if (!data) return <Reading supportEmail={props.supportEmail} />
  if (data.blockers.length > 0) {
    const held: HeldBack = {
      blockers: data.blockers,
      pendingTransactions: [],
      isUnknown: error !== null,
      isLooking: isFetching,
      look: () => refetch(),
      show: () => {},
    }
    return <Blockers held={held} supportEmail={props.supportEmail} takesFocus={false} />
  }
  return <Confirm token={token} preview={data} onHeldBack={() => void refetch()} {...props} />
}

const newKey = () => crypto.randomUUID()

const resolver = rulesOf<WithdrawValues>((rules) => rules.withdrawRules.none)

interface ConfirmProps extends ConfirmDeletionProps {
  token: string
  preview: Answer<typeof previewRequestedWithdrawal>
  onHeldBack: () => void
}

function Confirm({ token, preview, onHeldBack, deletedWithin, retentionDays }: ConfirmProps) {
  const t = useTranslations('DeletionPage')
  const common = useTranslations('DeleteAccount')
  const { showError } = useErrorTexts()
  const form = useForm<WithdrawValues>({ resolver })
  const { errors, isSubmitting } = form.formState
  // The same for every press, so that a repeated call gets the answer that was lost.
  const [idempotencyKey, setIdempotencyKey] = useState(newKey)
  const confirm = useMutation({
    mutationFn: (body: WithdrawValues) =>
      callWith(() => token, 'confirmRequestedWithdrawal', {}, body, { idempotencyKey }),
    onSuccess: ({ withdrawal_id, status_token }) => {
      clear()
      window.location.replace(`/withdrawal/${withdrawal_id}#token=${status_token}`)
    },
    onError: (error) => {
      if (error instanceof ApiError && error.code === 'WITHDRAWAL_003') {
        // The old key would repeat this refusal when nothing holds the deletion back any more.
        setIdempotencyKey(newKey())
        onHeldBack()
      }
      if (!isLost(error)) showError(form, error)
      else form.setError('root', { type: 'answer', message: common('lostAnswer') })
    },
  })
  if (isRefused(confirm.error)) return <NoLongerWorks />
  return (
    <StatusCard
      heading="h1"
      icon={Trash2}
      tone="warning"
      title={t('confirmTitle')}
      text={t('confirmLead', { time: deletedWithin })}
    >
      <Preview preview={preview} retentionDays={retentionDays} />
      <form
        method="post"
        noValidate
        className="space-y-5 border-line border-t pt-5"
        onFocus={preloadContract}
        onSubmit={form.handleSubmit((values) => confirm.mutate(values))}
      >
        <PhraseField form={form} />
        <ErrorAlert>{errors.root?.message}</ErrorAlert>
        <Button
          type="submit"
          variant="danger"
          className="w-full"
          isPending={isSubmitting || confirm.isPending || confirm.isSuccess}
        >
          {common('confirm')}
        </Button>
        <p className="text-ink-muted text-sm">{t('confirmNote')}</p>
      </form>
    </StatusCard>
  )
}

/** Nobody knows then whether the deletion has begun. */
const isLost = (error: unknown) => error instanceof ApiError && error.status === 0

function Preview({ preview, retentionDays: days }: Pick<ConfirmProps, 'preview' | 'retentionDays'>) {
  const t = useTranslations('DeleteAccount')
  const language = useLocale()
  const { countsText, peoplesText } = useCategoryTexts()
  const { erased, retained, applications } = preview
  const listed = (items: readonly string[]) => new Intl.ListFormat(language, { type: 'conjunction' }).format(items)
  const apps = [...new Set(applications.map(({ name }) => name))]
  const staying = [...retained.map((count) => countsText([count])), t('staysRecordListed')]
  const rows: [string, ReactNode][] = [
    [t('goes'), peoplesText(erased)],
    [t('stays', { days }), listed(staying)],
  ]
  if (apps.length > 0) rows.push([t('notify'), t('notifyDay', { apps: listed(apps) })])
  return <Rows rows={rows} />
}

function Reading({ supportEmail }: Pick<ConfirmDeletionProps, 'supportEmail'>) {
  const t = useTranslations('DeletionPage')
  return (
    <StatusCard heading="h1" icon={Trash2} title={t('confirmTitle')} text={t('reading')}>
      <noscript>
        <p>{t.rich('noScript', mailLink(supportEmail))}</p>
      </noscript>
    </StatusCard>
  )
}

const NoLongerWorks = () => <BadLink name="noLonger" />

function BadLink({ name }: { name: 'incomplete' | 'noLonger' }) {
  const t = useTranslations('DeletionPage')
  return (
    <StatusCard
      heading="h1"
      icon={Link2Off}
      tone="warning"
      isAnnounced={name === 'noLonger'}
      title={t(`${name}Title`)}
      text={t(`${name}Text`)}
    >
      <a href="/delete-account" className={buttonStyle({ className: 'w-full' })}>
        {t('askAgain')}
      </a>
    </StatusCard>
  )
}

interface UnreadProps {
  error: Error
  isPending: boolean
  onRetry: () => void
}

function Unread({ error, isPending, onRetry }: UnreadProps) {
  const t = useTranslations('DeletionPage')
  const failure = useTranslations('Failure')
  const { errorText } = useErrorTexts()
  return (
    <StatusCard heading="h1" icon={WifiOff} tone="warning" title={t('unreadTitle')} text={errorText(error)}>
      <Button className="w-full" isPending={isPending} onClick={onRetry}>
        {failure('tryAgain')}
      </Button>
    </StatusCard>
  )
}
