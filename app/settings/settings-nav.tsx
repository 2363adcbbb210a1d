'use client'

import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { sections } from './sections'

export function SettingsNav() {
  const pathname = usePathname()
  return (
    <nav
      aria-label="Settings"
      className="-mx-4 overflow-x-auto px-4 py-1 sm:-mx-6 sm:px-6 lg:mx-0 lg:overflow-visible lg:px-0"
    >
      <ul className="flex gap-1 max-sm:justify-between lg:flex-col">
        {sections.map(({ href, label, icon: Icon }) => (
          <li key={href}>
            <Link
              href={href}
              aria-current={pathname === href ? 'page' : undefined}
              className="flex h-11 items-center gap-2.5 whitespace-nowrap rounded-lg px-3 text-ink-muted hover:bg-sunken hover:text-ink aria-[current=page]:bg-sunken aria-[current=page]:font-medium aria-[current=page]:text-ink max-sm:px-2 max-sm:text-sm lg:h-10"
            >
              <Icon className="size-4 max-sm:hidden" aria-hidden />
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
