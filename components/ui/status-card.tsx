'use client'

import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Card } from './card'
import { useFocusOnMount } from './use-focus-on-mount'

interface StatusCardProps {
  icon: LucideIcon
  tone?: keyof typeof tones
  title: ReactNode
  /** `h2` where the card is not the whole page. */
  heading?: 'h1' | 'h2'
  text: ReactNode
  /** Takes the focus when it appears, because the pressed button is gone; `if-lost`: only if nothing else has it. */
  isAnnounced?: boolean | 'if-lost'
  children?: ReactNode
}

const tones = {
  accent: 'bg-accent-soft text-accent',
  success: 'bg-success-soft text-success',
  warning: 'bg-warning-soft text-warning',
  neutral: 'bg-sunken text-ink-muted',
}
const headings = {
  h1: 'text-2xl leading-8 tracking-[-0.025em]',
  h2: 'text-xl leading-7 tracking-[-0.02em]',
}

/** One state of a page: what has happened, and what the person can do now. */
export function StatusCard({
  icon: Icon,
  tone = 'accent',
  title,
  heading: Heading = 'h1',
  text,
  isAnnounced = false,
  children,
}: StatusCardProps) {
  const words = useFocusOnMount<HTMLDivElement>(isAnnounced)
  return (
    // Beside other cards it has their inner edge.
    <Card className={Heading === 'h1' ? 'p-card sm:p-8' : 'p-card sm:p-6'}>
      <span className={`grid size-11 place-items-center rounded-full ${tones[tone]}`}>
        <Icon className="size-5" aria-hidden />
      </span>
      <div ref={words} tabIndex={-1} role={isAnnounced ? 'status' : undefined} className="mt-5 outline-none">
        <Heading className={`wrap-break-word font-semibold ${headings[Heading]}`}>{title}</Heading>
        <p className="mt-2 text-ink-muted">{text}</p>
      </div>
      {children && <div className="mt-6 space-y-4">{children}</div>}
    </Card>
  )
}
