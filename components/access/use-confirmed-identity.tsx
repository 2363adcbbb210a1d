'use client'

import { useRouter } from 'next/navigation'
import { type ReactNode, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { ApiError, RULES } from '@/contract/errors'
import { needsFreshSignIn } from '../api/error-texts'
import { signInAgain } from '../session/sign-in-again'
import { ConfirmIdentity, needsPassword, type WaysToConfirm } from './confirm-identity'

export interface Owner {
  userId: string
  email: string
  ways: WaysToConfirm
}

interface ConfirmedIdentity {
  /** What a dialog asks for, undefined after a fresh sign-in. */
  question: ReactNode
  /** Confirms with what was typed, then acts. */
  confirmed: (act: () => Promise<unknown>) => Promise<void>
}

/** For what a dialog ends: nobody who finds the browser signed in can end other sessions. */
export function useConfirmedIdentity({ userId, email, ways }: Owner): ConfirmedIdentity {
  const t = useTranslations('Sessions')
  const router = useRouter()
  const [password, setPassword] = useState('')
  const field = useRef<HTMLInputElement>(null)
  async function confirm() {
    try {
      if (password === '') throw new ApiError('EMAIL_007', RULES.currentPassword, 0)
      await signInAgain(userId, password)
    } catch (error) {
      field.current?.select()
      throw error
    }
  }
  return {
    question: !ways.confirmedUntil && (
      <div className="mt-4">
        <ConfirmIdentity
          userId={userId}
          email={email}
          purpose="sessions"
          ways={ways}
          hint={t('identityHint')}
          values={() => ({})}
          password={{
            ref: field,
            error: undefined,
            value: password,
            onChange: ({ currentTarget }) => setPassword(currentTarget.value),
          }}
        />
      </div>
    ),
    async confirmed(act) {
      try {
        if (needsPassword(ways)) await confirm()
        await act()
        setPassword('')
      } catch (error) {
        // The page was open for longer than the sign-in is fresh.
        if (needsFreshSignIn(error)) router.refresh()
        throw error
      }
      if (needsPassword(ways)) router.refresh()
    },
  }
}
