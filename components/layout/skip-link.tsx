'use client'

import { useTranslations } from 'use-intl/react'

export function SkipLink() {
  const t = useTranslations('Common')
  return (
    // Not a link to #content, because it would replace the fragment that the verification page needs.
    <button
      type="button"
      onClick={() => document.getElementById('content')?.focus()}
      className="print:hidden sr-only z-20 rounded-lg bg-action px-4 py-3 font-medium text-on-action focus:not-sr-only focus:absolute focus:px-4 focus:py-3 focus:top-3 focus:start-3"
    >
      {t('skipToContent')}
    </button>
  )
}
