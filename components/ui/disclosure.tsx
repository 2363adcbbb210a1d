'use client'

import { ChevronRight } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import { cn } from './class-names'

/** A text that unfolds what is behind it; the browser's own element. */
export function Disclosure({
  summary,
  isSummaryHidden = false,
  className,
  children,
  ...rest
}: ComponentProps<'details'> & { summary: ReactNode; isSummaryHidden?: boolean }) {
  return (
    <details className={cn('group/disclosure', className)} {...rest}>
      <summary
        hidden={isSummaryHidden}
        className="inline-flex min-h-11 list-none items-center gap-1.5 rounded-lg font-medium text-accent [&::-webkit-details-marker]:hidden [&[hidden]]:hidden"
      >
        <ChevronRight
          className="size-4 shrink-0 transition-transform group-open/disclosure:rotate-90 rtl:group-not-open/disclosure:rotate-180"
          aria-hidden
        />
        {summary}
      </summary>
      {children}
    </details>
  )
}
