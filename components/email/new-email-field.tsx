import { lazy, Suspense, useEffect } from 'react'
import { type UseFormReturn, useWatch } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Body } from '@/contract/define'
import type { changeEmail } from '@/contract/email'
import { useErrorTexts } from '../api/error-texts'
import { LiveRegion } from '../ui/announcement'
import { EmailField } from '../ui/field'

// Loaded with the first @ that is typed. If loading fails, there is no hint.
const MistypedHint = lazy(() => import('./mistyped-hint').catch(() => ({ default: () => null })))

interface NewEmailFieldProps {
  form: UseFormReturn<Body<typeof changeEmail>>
  /** The address of a change that has expired or ended, or is replaced, offered again. */
  suggestion: string | undefined
  /** What is being sent can no longer be changed. */
  readOnly: boolean
}

/** The new address, and a hint where its domain looks mistyped. */
export function NewEmailField({ form, suggestion, readOnly }: NewEmailFieldProps) {
  const t = useTranslations('EmailSettings')
  const { fieldOf } = useErrorTexts()
  const address = useWatch({ control: form.control, name: 'new_email' })

  useEffect(() => {
    if (suggestion && !form.getValues('new_email')) form.setValue('new_email', suggestion)
  }, [suggestion, form])

  return (
    <>
      <EmailField
        label={t('newEmail')}
        autoComplete="email"
        readOnly={readOnly}
        {...fieldOf(form, 'new_email', { setValueAs: (text: string) => text.trim() })}
      />
      <LiveRegion>
        {/* No address that somebody means begins with a mistyped one, so the hint need not wait until the field is left. */}
        {address?.includes('@') && (
          <Suspense fallback={null}>
            <MistypedHint
              address={address}
              onUse={(meant) => {
                form.setValue('new_email', meant)
                form.setFocus('new_email')
              }}
            />
          </Suspense>
        )}
      </LiveRegion>
    </>
  )
}
