'use client'

import { useTranslations } from 'use-intl/react'

export function SkipLink() {
  const t = useTranslations('Common')
  return (
    // biome-ignore lint/a11y/useValidAnchor: it leads to a place of the page, without a change of its address
    <a
      href="#content"
      onClick={(event) => {
        // It would replace the fragment that the verification page needs.
        event.preventDefault()
        document.getElementById('content')?.focus()
      }}
      className="print:hidden sr-only z-20 rounded-lg bg-action px-4 py-3 font-medium text-on-action focus:not-sr-only focus:absolute focus:px-4 focus:py-3 focus:top-3 focus:start-3"
    >
      {t('skipToContent')}
    </a>
  )
}
