'use client'

import { Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Answer } from '@/contract/define'
import type { previewRequestedWithdrawal } from '@/contract/withdrawal-request'
import { Form } from '../forms/form'
import { useHost } from '../host/host'
import { Button } from '../ui/button'
import { ErrorAlert } from '../ui/error-alert'
import { StatusCard } from '../ui/status-card'
import { useCategoryTexts } from './category-texts'
import { DeletionDetails } from './deletion-details'
import { Summary, SummaryNotes } from './deletion-summary'
import { PhraseField } from './phrase-field'
import { type ConfirmDeletionCalls, useConfirmDeletion } from './use-confirm-deletion'

export interface DeletionTexts {
  /** “7 days”: the time in which all steps should be done. */
  deletedWithin: string
  retentionDays: number
  /** The time at which the kept records would be deleted. */
  keptUntil: string
  /** The full explanation, rendered on the server. */
  details: ReactNode
}

interface ConfirmDeletionFormProps extends ConfirmDeletionCalls {
  preview: Answer<typeof previewRequestedWithdrawal>
  texts: DeletionTexts
}

/** What would be deleted, and the form that begins it. */
export function ConfirmDeletionForm({ preview, texts, ...calls }: ConfirmDeletionFormProps) {
  const { deletedWithin, ...details } = texts
  const t = useTranslations('DeletionPage')
  const common = useTranslations('DeleteAccount')
  const { product } = useHost()
  const { peoplesText } = useCategoryTexts()
  const { form, submit, isPending, error } = useConfirmDeletion(calls)
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
        retentionDays={details.retentionDays}
        authority={preview.authority}
        isSignedOut
      >
        <DeletionDetails
          goes={peoplesText(preview.erased)}
          applications={preview.applications.map(({ name }) => ({ name, isNotifiedAtOnce: false }))}
          {...details}
        />
      </SummaryNotes>
      <Form className="space-y-5 border-line border-t pt-5" onSubmit={submit}>
        <PhraseField form={form} />
        <ErrorAlert error={error} />
        <Button type="submit" variant="danger" className="w-full" isPending={isPending}>
          {common('confirm')}
        </Button>
        <p className="text-ink-muted text-sm">{t('confirmNote')}</p>
      </Form>
    </StatusCard>
  )
}
