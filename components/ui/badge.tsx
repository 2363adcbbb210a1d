import type { ComponentProps } from 'react'
import { cn } from './class-names'

const tones = {
  neutral: 'bg-sunken text-ink-muted',
  accent: 'bg-accent-soft text-accent',
  success: 'bg-success-soft text-success',
  warning: 'bg-warning-soft text-warning',
  danger: 'bg-danger-soft text-danger',
}

interface BadgeProps extends ComponentProps<'span'> {
  tone?: keyof typeof tones
}

export const Badge = ({ tone = 'neutral', className, ...rest }: BadgeProps) => (
  <span
    className={cn(
      'inline-flex min-w-0 items-center gap-1.5 rounded-xl border border-transparent px-2.5 py-0.75 font-medium text-xs leading-4 [&>svg]:size-3.5',
      tones[tone],
      className,
    )}
    {...rest}
  />
)
