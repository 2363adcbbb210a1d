'use client'

import { useMutation } from '@tanstack/react-query'
import { MailCheck } from 'lucide-react'
import Link from 'next/link'
import { useEffect } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Body } from '@/contract/define'
import type { requestPasswordReset } from '@/contract/password'
import { useErrorTexts } from '../api/error-texts'
import { callWith, rulesOf } from '../api/load-contract'
import { SIGN_IN, takeDraft } from '../forms/draft'
import { Form } from '../forms/form'
import { SlowHint } from '../forms/slow-hint'
import { bold } from '../ui/bold'
import { Button } from '../ui/button'
import { PageCard } from '../ui/card'
import { ErrorAlert } from '../ui/error-alert'
import { EmailField } from '../ui/field'
import { StatusCard } from '../ui/status-card'
import { textLink } from '../ui/text-link'

type Values = Body<typeof requestPasswordReset>
const resolver = rulesOf<Values>((rules) => rules.forgotPasswordRules)

/** `isMailLate`: the mail server was away when the page was rendered. */
export function ForgotPassword({ isMailLate }: { isMailLate: boolean }) {
  const t = useTranslations('Passwords')
  const common = useTranslations('Common')
  const { fieldOf, showError } = useErrorTexts()
  const form = useForm<Values>({ resolver })
  const { errors } = form.formState
  useEffect(() => {
    const { email } = takeDraft(SIGN_IN, '')
    if (typeof email === 'string') form.setValue('email', email)
    form.setFocus('email')
  }, [form])
  const ask = useMutation({
    mutationFn: (body: Values) => callWith(() => '', 'requestPasswordReset', {}, body),
    onError: (error) => showError(form, error),
  })

  if (ask.isSuccess)
    return (
      <StatusCard
        icon={MailCheck}
        isAnnounced
        title={t('sentTitle')}
        text={t.rich('sentText', { address: () => bold(ask.variables.email) })}
      >
        {isMailLate && <p className="text-ink-muted">{common('mailLate')}</p>}
        <p className="text-ink-muted text-sm">{t('sentHint')}</p>
        <Button variant="secondary" className="w-full" onClick={() => ask.reset()}>
          {t('otherAddress')}
        </Button>
        <p className="text-sm">
          <Link href="/sign-in" className={`-my-2.5 inline-block py-2.5 ${textLink}`}>
            {t('backToSignIn')}
          </Link>
        </p>
      </StatusCard>
    )

  return (
    <PageCard title={t('forgotTitle')} text={t('forgotText')}>
      <Form onSubmit={form.handleSubmit((body) => ask.mutate(body))} className="mt-6 space-y-5">
        <ErrorAlert error={errors.root} />
        <EmailField
          label={t('email')}
          autoComplete="username"
          {...fieldOf(form, 'email', { setValueAs: (text: string) => text.trim() })}
        />
        <noscript className="block">
          <p className="text-ink-muted text-sm">{common('noScript')}</p>
        </noscript>
        <SlowHint isPending={ask.isPending} />
        <Button type="submit" isPending={form.formState.isSubmitting || ask.isPending} className="w-full">
          {t('sendLink')}
        </Button>
        <p className="text-sm">
          <Link href="/sign-in" className={textLink}>
            {t('backToSignIn')}
          </Link>
        </p>
      </Form>
    </PageCard>
  )
}
