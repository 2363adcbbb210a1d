'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { noAnswer, RULES } from '@/contract/errors'
import { ConfirmIdentity, needsPassword, useProvenSubmit, type WaysToConfirm } from '../access/confirm-identity'
import { needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { call } from '../api/load-contract'
import { FormCard } from '../forms/form-card'
import { signInAgain } from '../session/sign-in-again'
import { Alert } from '../ui/alert'
import { Announcement } from '../ui/announcement'
import { saveFile } from '../ui/save-file'
import { textLink } from '../ui/text-link'

/** The provider leads back to the page of the deletion, which asks for the same proof and leads on. */
const YOUR_DATA = '/settings/data'

interface ExportDataFormProps {
  userId: string
  email: string
  ways: WaysToConfirm
  /** The page of the deletion has led here, and is led back to. */
  isBeforeDeletion: boolean
}

interface Values {
  current_password: string
}

export function ExportDataForm({ userId, email, ways, isBeforeDeletion }: ExportDataFormProps) {
  const t = useTranslations('YourData')
  const { fieldOf, showError } = useErrorTexts()
  const router = useRouter()
  const asksPassword = needsPassword(ways)
  const form = useForm<Values>({ defaultValues: { current_password: '' } })
  const { errors } = form.formState
  const download = useMutation({
    mutationFn: async ({ current_password }: Values) => {
      if (asksPassword) await signInAgain(userId, current_password)
      const response = await call('exportData', { userId })
      // A download that breaks off is no file.
      const content = await response.blob().catch(() => {
        throw noAnswer()
      })
      saveFile(content, nameOf(response))
    },
    // The file would stay in memory.
    gcTime: 0,
    onSuccess: () => form.reset(),
    onError: (error) => {
      showError(form, error)
      if (needsFreshSignIn(error)) router.refresh()
    },
  })
  const submit = useProvenSubmit(form, ways, download.mutate)
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
        error={errors.root?.message}
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
          password={fieldOf(form, 'current_password', { required: asksPassword && RULES.currentPassword })}
        />
      </FormCard>
    </div>
  )
}

const nameOf = ({ headers }: Response) =>
  /filename="([\w.-]+)"/.exec(headers.get('Content-Disposition') ?? '')?.[1] ?? 'account-data.zip'
