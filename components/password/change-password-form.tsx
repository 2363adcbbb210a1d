'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { type ReactNode, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useLocale, useTranslations } from 'use-intl/react'
import type { Body } from '@/contract/define'
import type { changePassword } from '@/contract/password'
import { useErrorTexts } from '../api/error-texts'
import { call, rulesOf } from '../api/load-contract'
import { untilAnswered } from '../api/until-answered'
import { FormCard } from '../forms/form-card'
import { Alert } from '../ui/alert'
import { Announcement, LiveRegion } from '../ui/announcement'
import { CurrentPasswordField } from '../ui/field'
import { textLink } from '../ui/text-link'
import { NewPasswordField, type NewPasswordRules } from './new-password-field'

interface ChangePasswordFormProps {
  userId: string
  email: string
  /** What a new password does beside: `ends 2 other sessions`, `revokes 1 access token`. */
  ends: string[]
  canReset: boolean
  rules: NewPasswordRules
}

type Values = Body<typeof changePassword>
const resolver = rulesOf<Values>((rules) => rules.changePasswordRules)

const resetLink = (text: ReactNode) => (
  <a href="/forgot-password" className={textLink}>
    {text}
  </a>
)

export function ChangePasswordForm({ userId, email, ends, canReset, rules }: ChangePasswordFormProps) {
  const t = useTranslations('Passwords')
  const language = useLocale()
  const { fieldOf, showError } = useErrorTexts()
  const router = useRouter()
  const form = useForm<Values>({ resolver })
  const { errors } = form.formState
  const [changes, setChanges] = useState(0)
  const change = useMutation({
    mutationFn: (body: Values) => untilAnswered((options) => call('changePassword', { userId }, body, options)),
    // No cache may keep the passwords.
    gcTime: 0,
    onSuccess: () => {
      form.reset()
      setChanges((before) => before + 1)
      router.refresh()
    },
    onError: (error) => showError(form, error),
  })

  return (
    <div className="space-y-6">
      <LiveRegion>
        {changes > 0 && (
          <Announcement key={changes} takesFocus>
            <Alert tone="success" title={t('changedTitle')} text={t('changedText', { email })} />
          </Announcement>
        )}
      </LiveRegion>
      <FormCard
        title={t('change')}
        description={
          ends.length > 0 ? t('ends', { what: new Intl.ListFormat(language).format(ends) }) : t('endsNothing')
        }
        error={errors.root}
        note={canReset && t.rich('forgotten', { link: resetLink })}
        submit={t('change')}
        isPending={form.formState.isSubmitting || change.isPending}
        onSubmit={form.handleSubmit((body) => change.mutate(body))}
      >
        <CurrentPasswordField email={email} {...fieldOf(form, 'current_password')} />
        <NewPasswordField rules={rules} typed={form.watch('new_password')} {...fieldOf(form, 'new_password')} />
      </FormCard>
    </div>
  )
}
