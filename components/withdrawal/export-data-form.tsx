'use client'

import { useTranslations } from 'use-intl/react'
import { RULES } from '@/contract/errors'
import { ConfirmIdentity, needsPassword, type WaysToConfirm } from '../access/confirm-identity'
import { useErrorTexts } from '../api/error-texts'
import { FormCard } from '../forms/form-card'
import { Alert } from '../ui/alert'
import { Announcement } from '../ui/announcement'
import { textLink } from '../ui/text-link'
import { useExportData } from './use-export-data'

/** The provider leads back to the page of the deletion, which asks for the same proof and leads on. */
const YOUR_DATA = '/settings/data'

interface ExportDataFormProps {
  userId: string
  email: string
  ways: WaysToConfirm
  /** The page of the deletion has led here, and is led back to. */
  isBeforeDeletion: boolean
}

export function ExportDataForm({ userId, email, ways, isBeforeDeletion }: ExportDataFormProps) {
  const t = useTranslations('YourData')
  const { fieldOf } = useErrorTexts()
  const { form, submit, download } = useExportData(userId, ways)
  return (
    <div className="space-y-6">
      {download.isSuccess && (
        <Announcement takesFocus>
          <Alert tone="success" role="status" title={t('done')} text={t('doneText')}>
            {isBeforeDeletion && (
              <a href="/settings/withdraw" className={textLink}>
                {t('toDeletion')}
              </a>
            )}
          </Alert>
        </Announcement>
      )}
      <FormCard
        title={t('formTitle')}
        description={t('text')}
        error={form.formState.errors.root}
        note={t('note')}
        submit={t('submit')}
        isPending={download.isPending}
        onSubmit={submit}
      >
        <ConfirmIdentity
          userId={userId}
          email={email}
          purpose="withdraw"
          ways={ways}
          hint={t('identityHint')}
          values={() => ({})}
          comesBackTo={isBeforeDeletion ? `${YOUR_DATA}?before=deletion` : YOUR_DATA}
          password={fieldOf(form, 'current_password', { required: needsPassword(ways) && RULES.currentPassword })}
        />
      </FormCard>
    </div>
  )
}
