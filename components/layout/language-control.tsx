'use client'

import { Globe } from 'lucide-react'
import { useState } from 'react'
import { useLocale, useTranslations } from 'use-intl/react'
import { LANGUAGE_NAMES } from '@/contract/languages'
import { cn } from '../ui/class-names'
import { useHydrated } from '../ui/use-hydrated'
import { useIsEnglishOnly } from './english-only'

/** Changes the language of the pages, and of the mails to a person who is signed in. The page stays, with its fragment. */
export function LanguageControl({ className }: { className?: string }) {
  const language = useLocale()
  const t = useTranslations('Common')
  const errors = useTranslations('Errors')
  const isEnglishOnly = useIsEnglishOnly()
  const hydrated = useHydrated()
  const [failure, setFailure] = useState<{ text: string; count: number }>()

  if (isEnglishOnly) return null

  async function choose(chosen: string) {
    const body = new URLSearchParams({ language: chosen })
    const response = await fetch('/api/language', { method: 'POST', body }).catch(() => undefined)
    if (response?.ok) window.location.reload()
    else {
      const text = errors(response ? 'page' : 'rules.noConnection')
      setFailure((last) => ({ text, count: (last?.count ?? 0) + 1 }))
    }
  }

  return (
    <div className={cn('flex flex-wrap items-center gap-x-4', className)}>
      {failure && (
        <p key={failure.count} role="alert" className="text-danger">
          {failure.text}
        </p>
      )}
      <label className="inline-flex min-h-11 items-center gap-1.5">
        <Globe className="size-4" aria-hidden />
        <span className="sr-only">{t('language')}</span>
        <select
          // Remade after a failure, so that it shows the language that the page has.
          key={failure?.count}
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
    </div>
  )
}
