import { useTranslations } from 'use-intl/react'
import type { Authority } from '@/contract/errors'
import { authorityLink } from '../ui/authority-link'

/** Where the person can complain about what is kept or held up, if the adopter names it. */
export function RightToComplain({ authority }: { authority: Authority | undefined }) {
  const t = useTranslations('Common')
  return authority && <p>{t.rich('complain', authorityLink(authority))}</p>
}
