import { cn } from './class-names'

const variants = {
  primary:
    'border-transparent bg-action text-on-action shadow-rest hover:bg-action-hover data-[inactive]:bg-sunken data-[inactive]:text-ink-muted data-[inactive]:shadow-none',
  secondary:
    'border-line bg-surface text-ink shadow-rest hover:bg-sunken data-[inactive]:bg-sunken data-[inactive]:text-ink-muted data-[inactive]:shadow-none',
  danger:
    'border-transparent bg-danger-action text-on-danger shadow-rest hover:bg-danger-hover data-[inactive]:bg-sunken data-[inactive]:text-ink-muted',
  quiet: 'border-transparent bg-transparent text-ink hover:bg-sunken data-[inactive]:text-ink-muted',
}
const sizes = {
  medium: 'min-h-11 px-4 sm:min-h-10',
  small: 'min-h-11 px-3 text-sm sm:min-h-9',
}

export interface ButtonLook {
  variant?: keyof typeof variants
  size?: keyof typeof sizes
  className?: string | undefined
}

/** Links that look like buttons use it too. */
export const buttonStyle = ({ variant = 'primary', size = 'medium', className }: ButtonLook = {}) =>
  cn(
    'inline-flex max-w-full shrink-0 select-none items-center justify-center gap-2 rounded-lg border py-1.5 text-center font-medium text-[0.9375rem] leading-tight transition-colors duration-150 aria-busy:cursor-progress data-[inactive]:cursor-not-allowed',
    variants[variant],
    sizes[size],
    className,
  )
