'use client'

import { useTranslations } from 'use-intl/react'
import { useVerificationLink } from '@/components/email/use-verification-link'
import { maskedAddressOf } from '@/components/email/verification-link'
import { Alert } from '@/components/ui/alert'

/** Names the address to sign in with after a verification link. The page reserves its space until the browser has read the link. */
export function LinkHint() {
  const t = useTranslations('SignIn')
  const link = useVerificationLink()
  const address = link && maskedAddressOf(link)
  return (
    <Alert
      title={
        address
          ? t(link.isOwn ? 'linkHintAs' : 'linkHintCurrent', { address })
          : t(link?.isOwn ? 'linkHintOwn' : 'linkHint')
      }
      className={link === undefined ? 'invisible mt-5' : 'mt-5'}
    />
  )
}
