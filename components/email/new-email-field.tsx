import { type FocusEvent, lazy, Suspense, useEffect, useState } from 'react'
import { type UseFormReturn, useWatch } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Body } from '@/contract/define'
import type { changeEmail } from '@/contract/email'
import { useErrorTexts } from '../api/error-texts'
import { LiveRegion } from '../ui/announcement'
import { EmailField } from '../ui/field'

// Loaded on demand, because few people mistype a domain. If loading fails, there is no hint.
const MistypedHint = lazy(() => import('./mistyped-hint').catch(() => ({ default: () => null })))

interface NewEmailFieldProps {
  form: UseFormReturn<Body<typeof changeEmail>>
  /** The address of a change that has expired or ended, offered again. */
  suggestion: string | undefined
}

/** The new address, and a hint where its domain looks mistyped. */
export function NewEmailField({ form, suggestion }: NewEmailFieldProps) {
  const t = useTranslations('EmailSettings')
  const { fieldOf } = useErrorTexts()
  /** The address that was typed, once the field was left. */
  const [typed, setTyped] = useState('')
  const address = useWatch({ control: form.control, name: 'new_email' })

  useEffect(() => {
    if (!suggestion || form.getValues('new_email')) return
    form.setValue('new_email', suggestion)
    setTyped(suggestion)
  }, [suggestion, form])

  return (
    <>
      <EmailField
        label={t('newEmail')}
        autoComplete="email"
        {...fieldOf(form, 'new_email', {
          setValueAs: (text: string) => text.trim(),
          // The hint waits until the field is left.
          onChange: () => setTyped(''),
          onBlur: (event: FocusEvent<HTMLInputElement>) => setTyped(event.target.value),
        })}
      />
      <LiveRegion>
        {address && typed && (
          <Suspense fallback={null}>
            <MistypedHint
              address={typed}
              onUse={(meant) => {
                form.setValue('new_email', meant)
                setTyped('')
                form.setFocus('new_email')
              }}
            />
          </Suspense>
        )}
      </LiveRegion>
    </>
  )
}
