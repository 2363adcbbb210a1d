'use client'

import { type ComponentProps, useEffect, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { commonPasswords, type PasswordProblem, problemOfPassword } from '@/contract/guessable-password'
import { MAX_NEW_PASSWORD_LENGTH } from '@/contract/vocabulary'
import { PasswordField } from '../ui/field'

type Registered = Omit<ComponentProps<typeof PasswordField>, 'label'>

/** What the service asks of a new password, as far as the page can judge it. */
export interface NewPasswordRules {
  minLength: number
  /** Names and addresses that are no password here. */
  words: string[]
}

interface NewPasswordFieldsProps {
  rules: NewPasswordRules
  /** What is typed so far. */
  typed: string | undefined
  password: Registered
  repeated?: Registered
}

/** Asks for the new password twice where a typing mistake would lock the person out. */
export function NewPasswordFields({ rules, typed = '', password, repeated }: NewPasswordFieldsProps) {
  const t = useTranslations('NewPassword')
  const errors = useTranslations('Errors')
  const problem = useProblem(typed, rules)
  const { minLength: min } = rules
  // A password that is too short is reported when the form is sent, because everybody begins with a short one.
  const ofLength =
    problem === 'length' && password.error ? t('length', { min, max: MAX_NEW_PASSWORD_LENGTH }) : undefined
  const ofText = problem && problem !== 'length' ? errors(`rules.${problem}`) : undefined
  return (
    <>
      <PasswordField
        label={t('label')}
        autoComplete="new-password"
        hint={t('hint', { count: min })}
        {...password}
        error={ofText ?? ofLength ?? password.error}
      />
      {repeated && <PasswordField label={t('again')} autoComplete="new-password" {...repeated} />}
    </>
  )
}

const NONE: ReadonlySet<string> = new Set()

/** Judged in the browser, which sends the password nowhere. The list of common passwords is loaded once somebody types. */
function useProblem(typed: string, rules: NewPasswordRules): PasswordProblem | null {
  const [common, setCommon] = useState(NONE)
  const isTyping = typed !== ''
  useEffect(() => {
    // Without the list the service alone judges.
    if (isTyping) commonPasswords().then(setCommon, () => {})
  }, [isTyping])
  return isTyping ? problemOfPassword(typed, { ...rules, common }) : null
}
