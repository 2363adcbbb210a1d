import { cva } from 'class-variance-authority'

/** Links that look like buttons use it too. */
export const buttonStyle = cva(
  'inline-flex shrink-0 select-none items-center justify-center gap-2 whitespace-nowrap rounded-lg border font-medium text-[0.9375rem] leading-none transition-colors duration-150 aria-busy:cursor-progress data-[inactive]:cursor-not-allowed',
  {
    variants: {
      variant: {
        primary:
          'border-transparent bg-action text-on-action shadow-rest hover:bg-action-hover data-[inactive]:bg-sunken data-[inactive]:text-ink-muted data-[inactive]:shadow-none',
        secondary:
          'border-line bg-surface text-ink shadow-rest hover:bg-sunken data-[inactive]:bg-sunken data-[inactive]:text-ink-muted data-[inactive]:shadow-none',
        danger:
          'border-transparent bg-danger-action text-on-danger shadow-rest hover:bg-danger-hover data-[inactive]:bg-sunken data-[inactive]:text-ink-muted',
        quiet: 'border-transparent bg-transparent text-ink hover:bg-sunken data-[inactive]:text-ink-muted',
        'quiet-danger': 'border-transparent bg-transparent text-danger hover:bg-danger-soft',
      },
      size: {
        medium: 'h-11 px-4 sm:h-10',
        small: 'h-11 px-3 text-sm sm:h-9',
      },
    },
    defaultVariants: { variant: 'primary', size: 'medium' },
  },
)
