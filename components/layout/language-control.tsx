'use client'

import { Check, ChevronDown, Globe } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { useLocale, useTranslations } from 'use-intl/react'
import { LANGUAGE_NAMES } from '@/contract/languages'
import { PAGE_LEAVES } from '../forms/draft'
import { keepInTab, takeFromTab } from '../session/tab-storage'
import { cn } from '../ui/class-names'
import { closeWhenLeft } from '../ui/close-when-left'
import { useHydrated } from '../ui/use-hydrated'
import { useIsEnglishOnly } from './english-only'

/** Kept over the reload, which would leave the focus at the top of the page. */
const CHOSEN = 'language-chosen'
const FOR_MAILS = 'pages and mails'

interface LanguageControlProps {
  className?: string
  /** The path of a page that works without a script. It opens anew in the language that is chosen. */
  linksTo?: string
}

/**
 * Changes the language of the pages, and of the mails to a person who is signed in. The page stays, with its fragment. A list of buttons
 * in the browser's own popover, because an arrow key on a closed `select` chooses at once.
 */
export function LanguageControl({ className, linksTo }: LanguageControlProps) {
  const language = useLocale()
  const t = useTranslations('Common')
  const errors = useTranslations('Errors')
  const isEnglishOnly = useIsEnglishOnly()
  const hydrated = useHydrated()
  const id = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const [failure, setFailure] = useState<{ text: string; count: number }>()
  const [isForMails, setForMails] = useState(false)

  useEffect(() => {
    const chosen = hydrated && takeFromTab(CHOSEN)
    if (!chosen) return
    opener.current?.focus()
    setForMails(chosen === FOR_MAILS)
  }, [hydrated])

  if (isEnglishOnly) return null

  async function choose(chosen: string) {
    const body = new URLSearchParams({ language: chosen })
    const response = await fetch('/api/language', { method: 'POST', body }).catch(() => undefined)
    if (response?.ok) {
      const { isForMails } = await response.json().catch(() => ({}))
      keepInTab(CHOSEN, isForMails ? FOR_MAILS : 'pages')
      window.dispatchEvent(new Event(PAGE_LEAVES))
      window.location.reload()
    } else {
      const text = errors(response ? 'page' : 'rules.noConnection')
      setFailure((last) => ({ text, count: (last?.count ?? 0) + 1 }))
    }
  }

  const itemOf = (value: string) => ({
    lang: value,
    'aria-current': value === language || undefined,
    className:
      'flex min-h-11 w-full items-center justify-between gap-2.5 rounded-lg px-2.5 hover:bg-sunken focus-visible:-outline-offset-2 sm:min-h-9',
  })

  return (
    <div className={cn('flex flex-wrap items-center gap-x-4', className)}>
      {failure && (
        <p key={failure.count} role="alert" className="text-danger">
          {failure.text}
        </p>
      )}
      <p role="status" className="empty:sr-only">
        {isForMails && t('languageOfMails')}
      </p>
      <button
        ref={opener}
        type="button"
        disabled={!hydrated && !linksTo}
        popoverTarget={id}
        // Before the script runs, the browser tells it by itself.
        aria-expanded={hydrated ? isOpen : undefined}
        className="-ms-1 inline-flex min-h-11 items-center gap-1.5 rounded-lg px-1 hover:text-ink sm:ms-0"
      >
        <Globe className="size-4" aria-hidden />
        <span className="sr-only">{t('language')}</span>
        {LANGUAGE_NAMES[language as keyof typeof LANGUAGE_NAMES]}
        <ChevronDown className="size-4" aria-hidden />
      </button>
      <ul
        id={id}
        popover="auto"
        onBlur={closeWhenLeft}
        onToggle={(event) => setOpen(event.newState === 'open')}
        className="fade-in absolute inset-auto end-4 bottom-20 [position-anchor:auto] m-0 w-56 rounded-xl border border-line bg-surface p-1.5 text-ink shadow-lift duration-100 open:animate-in supports-[bottom:anchor(top)]:end-[min(anchor(end),100%-15rem)] supports-[bottom:anchor(top)]:bottom-[calc(anchor(top)+0.25rem)]"
      >
        {Object.entries(LANGUAGE_NAMES).map(([value, name]) => (
          <li key={value}>
            {linksTo ? (
              <a href={`${linksTo}?language=${value}&chosen`} hrefLang={value} {...itemOf(value)}>
                {name} {value === language && <Check className="size-4" aria-hidden />}
              </a>
            ) : (
              <button
                type="button"
                onClick={(event) => {
                  event.currentTarget.closest<HTMLElement>('[popover]')?.hidePopover()
                  // Also the one of the page, which may be the browser's alone.
                  void choose(value)
                }}
                {...itemOf(value)}
              >
                {name} {value === language && <Check className="size-4" aria-hidden />}
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}
