'use client'

import { Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Answer } from '@/contract/define'
import { ApiError } from '@/contract/errors'
import { WITHDRAWAL_LINK_TOKEN } from '@/contract/vocabulary'
import type { previewRequestedWithdrawal } from '@/contract/withdrawal-request'
import { isUnanswered, useErrorTexts } from '../api/error-texts'
import { callWith, rulesOf } from '../api/load-contract'
import { Form } from '../forms/form'
import { useHost } from '../host/host'
import { PageHeading } from '../layout/page-heading'
import { LinkPage } from '../session/link-page'
import { secretOfLink } from '../session/link-secret'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { ErrorAlert } from '../ui/error-alert'
import { linkTo } from '../ui/link-to'
import { mailLink } from '../ui/mail-link'
import { StatusCard } from '../ui/status-card'
import { Blockers, type HeldBack } from './blockers'
import { useCategoryTexts } from './category-texts'
import { DeletionDetails } from './deletion-details'
import { Summary, SummaryNotes } from './deletion-summary'
import { PhraseField } from './phrase-field'
import { useBeginDeletion } from './use-begin-deletion'
import type { WithdrawValues } from './withdraw-rules'

const { useSecret, clear } = secretOfLink<string>((fields) => {
  const token = fields.get('token') ?? ''
  return WITHDRAWAL_LINK_TOKEN.test(token) ? token : null
})

interface ConfirmDeletionProps {
  supportEmail: string
  /** “30 minutes”: how long the link works from its mail on. */
  linkLasts: string
  /** “7 days”: the time in which all steps should be done. */
  deletedWithin: string
  retentionDays: number
  /** The time at which the kept records would be deleted. */
  keptUntil: string
  /** The full explanation, rendered on the server. */
  details: ReactNode
}

/** What a mailed deletion link opens. Nothing is deleted before the form is sent. */
export function ConfirmDeletion({ supportEmail, linkLasts, ...props }: ConfirmDeletionProps) {
  const t = useTranslations('DeletionPage')
  const { product } = useHost()
  const [wasPressed, setWasPressed] = useState(false)
  return (
    <LinkPage
      icon={Trash2}
      title={t('confirmTitle', { product })}
      noScript={
        <>
          {t.rich('noScript', mailLink(supportEmail))} {t.rich('signIn', { link: linkTo('/settings/withdraw') })}
        </>
      }
      secret={useSecret()}
      read={(token) => callWith(() => token, 'previewRequestedWithdrawal', {})}
      isRefused={isRefused}
      noLongerText={t('noLongerText')}
      wayOut={() => (
        <a href="/delete-account" className={buttonStyle({ className: 'w-full' })}>
          {t('askAgain')}
        </a>
      )}
    >
      {(preview, { secret, end, readAgain, isReading, isStale }) => {
        const onHeldBack = () => {
          setWasPressed(true)
          void readAgain()
        }
        if (preview.blockers.length === 0)
          return <Confirm token={secret} preview={preview} onRefused={end} onHeldBack={onHeldBack} {...props} />
        const held: HeldBack = {
          blockers: preview.blockers,
          authority: preview.authority,
          isUnknown: isStale,
          isChecking: isReading,
          check: readAgain,
          show: () => {},
        }
        return (
          <div>
            <PageHeading title={t('confirmTitle', { product })} />
            <Blockers held={held} supportEmail={supportEmail} takesFocus={wasPressed} />
            <p className="px-card pt-6 text-ink-muted text-sm sm:px-6">
              {t.rich('linkLasts', { time: linkLasts, link: linkTo('/delete-account') })}
            </p>
          </div>
        )
      }}
    </LinkPage>
  )
}

const isRefused = (error: unknown) => error instanceof ApiError && error.code === 'WITHDRAWAL_006'

const resolver = rulesOf<WithdrawValues>((rules) => rules.withdrawRules.none)

interface ConfirmProps extends Omit<ConfirmDeletionProps, 'supportEmail' | 'linkLasts'> {
  token: string
  preview: Answer<typeof previewRequestedWithdrawal>
  onRefused: () => void
  onHeldBack: () => void
}

function Confirm({ token, preview, onRefused, onHeldBack, deletedWithin, ...shown }: ConfirmProps) {
  const t = useTranslations('DeletionPage')
  const common = useTranslations('DeleteAccount')
  const { product } = useHost()
  const { peoplesText } = useCategoryTexts()
  const { showError, showUntilBack } = useErrorTexts()
  const form = useForm<WithdrawValues>({ resolver })
  const { errors, isSubmitting } = form.formState
  const confirm = useBeginDeletion({
    send: (body: WithdrawValues, options) => callWith(() => token, 'confirmRequestedWithdrawal', {}, body, options),
    onSuccess: ({ withdrawal_id, status_token }) => {
      clear()
      window.location.replace(`/withdrawal/${withdrawal_id}#token=${status_token}`)
    },
    onError: (error) => {
      if (isRefused(error)) return onRefused()
      if (error instanceof ApiError && error.code === 'WITHDRAWAL_003') onHeldBack()
      if (isUnanswered(error)) showUntilBack(form, common('notReached'))
      else showError(form, error)
    },
  })
  return (
    <StatusCard
      icon={Trash2}
      tone="warning"
      title={t('confirmTitle', { product })}
      text={
        <>
          <b className="block font-medium text-ink">{common('dangerTitle')}</b>
          <Summary address={preview.address} deletedWithin={deletedWithin} />
        </>
      }
    >
      <SummaryNotes
        applications={preview.applications}
        retentionDays={shown.retentionDays}
        authority={preview.authority}
        isSignedOut
      >
        <DeletionDetails
          goes={peoplesText(preview.erased)}
          applications={preview.applications.map(({ name }) => ({ name, isNotifiedAtOnce: false }))}
          {...shown}
        />
      </SummaryNotes>
      <Form
        className="space-y-5 border-line border-t pt-5"
        onSubmit={form.handleSubmit((values) => confirm.mutate(values))}
      >
        <PhraseField form={form} />
        <ErrorAlert>{confirm.isUnsure ? common('lostAnswer') : errors.root?.message}</ErrorAlert>
        <Button
          type="submit"
          variant="danger"
          className="w-full"
          isPending={isSubmitting || confirm.isPending || confirm.isSuccess}
        >
          {common('confirm')}
        </Button>
        <p className="text-ink-muted text-sm">{t('confirmNote')}</p>
      </Form>
    </StatusCard>
  )
}
