'use client'

import Link from 'next/link'
import { usePathname } from 'next/navigation'
import type { ReactNode } from 'react'
import { textLink } from '@/components/ui/text-link'

/** A link that leads to another page; nothing on the page itself. */
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
