'use client'

import Link, { useLinkStatus } from 'next/link'
import { usePathname } from 'next/navigation'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { sections } from './sections'

export function SettingsNav() {
  const t = useTranslations('Common')
  const pathname = usePathname()
  // A prefetch at the start would slow down the first visit, and it brings only the title: every page is made for its request.
  const [isNear, setNear] = useState(false)
  return (
    <nav aria-label={t('settings')} onPointerEnter={() => setNear(true)} onFocus={() => setNear(true)} className="py-1">
      {/* On a phone three tabs a row, or fewer where a word needs more room: no language has one that is cut. */}
      <ul className="flex flex-wrap gap-1 lg:flex-col lg:flex-nowrap">
        {sections.map(({ href, name, icon: Icon, ...section }) => (
          <li key={href} className="max-sm:min-w-min max-sm:flex-[1_0_30%]">
            <Link
              href={href}
              prefetch={isNear ? null : false}
              aria-current={pathname === href ? 'page' : undefined}
              className="relative flex min-h-11 items-center gap-2.5 rounded-lg px-3 text-ink-muted hover:bg-sunken hover:text-ink aria-[current=page]:bg-sunken aria-[current=page]:font-medium aria-[current=page]:text-ink max-sm:gap-2 max-sm:px-2 max-sm:text-sm max-sm:wrap-break-word max-sm:leading-5 sm:max-lg:whitespace-nowrap max-[22.5rem]:justify-center max-[22rem]:min-h-[44px] max-[22rem]:px-1 max-[22rem]:text-[0.8125rem] lg:min-h-10 lg:py-1.5"
            >
              <Icon className="size-4 shrink-0 max-[22.5rem]:hidden" aria-hidden />
              {'short' in section ? (
                <ShortOnPhones label={t(`sections.${name}`)} short={t(`sections.${section.short}`)} />
              ) : (
                t(`sections.${name}`)
              )}
              <Pending />
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const ShortOnPhones = ({ label, short }: { label: string; short: string }) => (
  <>
    <span className="max-sm:sr-only">{label}</span>
    <span className="sm:hidden" aria-hidden>
      {short}
    </span>
  </>
)

/** Shows on a slow network that the section is loading. */
function Pending() {
  const { pending } = useLinkStatus()
  return (
    pending && (
      <span
        className="fade-in fill-mode-both absolute inset-x-2 bottom-1 h-0.5 animate-in rounded-full bg-accent delay-150"
        aria-hidden
      />
    )
  )
}
