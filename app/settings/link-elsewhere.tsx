'use client'

import Link from 'next/link'
import { usePathname } from 'next/navigation'
import type { ReactNode } from 'react'
import { textLink } from '@/components/ui/text-link'

/** A link to another page. On that page itself it shows nothing. */
export function LinkElsewhere({ href, children }: { href: string; children: ReactNode }) {
  if (usePathname() === href) return null
  return (
    <p>
      <Link href={href} className={textLink}>
        {children}
      </Link>
    </p>
  )
}
