'use client'

import { ChevronRight } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import { cn } from './class-names'

/** On paper nobody can unfold anything. */
const PRINTED = 'print:[&::details-content]:[block-size:auto] print:[&::details-content]:[content-visibility:visible]'

/** A text that unfolds what is behind it; the browser's own element. */
export function Disclosure({
  summary,
  isSummaryHidden = false,
  isPrinted = false,
  className,
  children,
  ...rest
}: ComponentProps<'details'> & { summary: ReactNode; isSummaryHidden?: boolean; isPrinted?: boolean }) {
  return (
    <details className={cn(isPrinted && PRINTED, className)} {...rest}>
      <summary
        hidden={isSummaryHidden}
        className="inline-flex min-h-11 list-none items-center gap-1.5 rounded-lg py-2 font-medium text-accent print:text-ink [&::-webkit-details-marker]:hidden [&[hidden]]:hidden"
      >
        <ChevronRight
          className="size-4 shrink-0 transition-transform print:hidden [[open]>summary>&]:rotate-90 rtl:[:not([open])>summary>&]:rotate-180"
          aria-hidden
        />
        {summary}
      </summary>
      {children}
    </details>
  )
}
