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

interface NewPasswordFieldProps extends Registered {
  rules: NewPasswordRules
  /** What is typed so far. */
  typed: string | undefined
}

/** Asks once: the person can show what they type, and a mistyped password is reset by email. */
export function NewPasswordField({ rules, typed = '', error, ...registered }: NewPasswordFieldProps) {
  const t = useTranslations('NewPassword')
  const errors = useTranslations('Errors')
  const problem = useProblem(typed, rules)
  const { minLength: min } = rules
  // A password that is too short is reported when the form is sent, because everybody begins with a short one.
  const ofLength =
    problem === 'length' && error
      ? t(typed.length < min ? 'tooShort' : 'tooLong', { min, max: MAX_NEW_PASSWORD_LENGTH })
      : undefined
  const ofText = problem && problem !== 'length' ? errors(`rules.${problem}`) : undefined
  return (
    <PasswordField
      label={t('label')}
      autoComplete="new-password"
      hint={t('hint', { count: min })}
      {...registered}
      error={ofText ?? ofLength ?? error}
    />
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
