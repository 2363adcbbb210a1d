import { useTranslations } from 'use-intl/react'

/** Tells screen readers that a link leaves this page open. */
export function NewTab() {
  const t = useTranslations('Common')
  return <span className="sr-only"> {t('newTab')}</span>
}
