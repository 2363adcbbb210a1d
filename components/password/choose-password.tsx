'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Body } from '@/contract/define'
import type { confirmPasswordReset } from '@/contract/password'
import { useErrorTexts } from '../api/error-texts'
import { callWith, rulesOf } from '../api/load-contract'
import { Form } from '../forms/form'
import { SlowHint } from '../forms/slow-hint'
import { Button } from '../ui/button'
import { PageCard } from '../ui/card'
import { ErrorAlert } from '../ui/error-alert'
import { NewPasswordField, type NewPasswordRules } from './new-password-field'

interface ChoosePasswordProps {
  rules: NewPasswordRules
  token: string
  /** The address of the account. */
  email: string
  /** Ends the page where the error says that the link no longer works. */
  endIf: (error: unknown) => boolean
  onChanged: () => void
}

type Values = Body<typeof confirmPasswordReset>
const resolver = rulesOf<Values>((rules) => rules.resetPasswordRules)

/** The form that a link to a new password opens. */
export function ChoosePassword({ rules, token, email, endIf, onChanged }: ChoosePasswordProps) {
  const t = useTranslations('Passwords')
  const { fieldOf, showError } = useErrorTexts()
  const router = useRouter()
  const form = useForm<Values>({ resolver })
  const { errors } = form.formState
  const confirm = useMutation({
    mutationFn: (body: Values) => callWith(() => token, 'confirmPasswordReset', {}, body),
    // No cache may keep the password.
    gcTime: 0,
    onSuccess: () => {
      onChanged()
      router.refresh()
    },
    onError: (error) => endIf(error) || showError(form, error),
  })

  return (
    <PageCard title={t('chooseTitle')} text={t('chooseText')}>
      <Form onSubmit={form.handleSubmit((body) => confirm.mutate(body))} className="mt-6 space-y-5">
        <p className="wrap-anywhere font-medium">
          <bdi>{email}</bdi>
        </p>
        {/* Tells a password manager whose password it is. */}
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <NewPasswordField rules={rules} typed={form.watch('new_password')} {...fieldOf(form, 'new_password')} />
        <ErrorAlert error={errors.root} />
        <SlowHint isPending={confirm.isPending} />
        <Button type="submit" isPending={form.formState.isSubmitting || confirm.isPending} className="w-full">
          {t('setNew')}
        </Button>
        <p className="text-ink-muted text-sm">{t('resetNote')}</p>
      </Form>
    </PageCard>
  )
}
