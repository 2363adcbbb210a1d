'use client'

import { Globe } from 'lucide-react'
import { useState } from 'react'
import { useLocale, useTranslations } from 'use-intl/react'
import { LANGUAGE_NAMES } from '@/contract/languages'
import { cn } from './ui/class-names'
import { useHydrated } from './ui/use-hydrated'

/** Changes the language of the pages, and of the mails to a person who is signed in. The page stays, with its fragment. */
export function LanguageControl({ className }: { className?: string }) {
  const language = useLocale()
  const t = useTranslations('Common')
  const hydrated = useHydrated()
  const [failed, setFailed] = useState(false)

  async function choose(chosen: string) {
    const body = new URLSearchParams({ language: chosen })
    const response = await fetch('/api/language', { method: 'POST', body }).catch(() => undefined)
    if (response?.ok) window.location.reload()
    else setFailed(true)
  }

  return (
    <label className={cn('inline-flex min-h-11 items-center gap-1.5', className)}>
      <Globe className="size-4" aria-hidden />
      <span className="sr-only">{t('language')}</span>
      <select
        // Remade after a failure, so that it shows the language that the page has.
        key={String(failed)}
        defaultValue={language}
        disabled={!hydrated}
        onChange={(event) => choose(event.currentTarget.value)}
        className="min-h-11 rounded-lg bg-transparent pe-1 hover:text-ink sm:min-h-9"
      >
        {Object.entries(LANGUAGE_NAMES).map(([value, name]) => (
          <option key={value} value={value} lang={value} className="bg-surface text-ink">
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
