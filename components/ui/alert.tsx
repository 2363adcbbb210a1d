import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import { withWholeHyphens } from './bold'
import { cn } from './class-names'

const tones = {
  info: 'bg-accent-soft [&>svg]:text-accent',
  success: 'bg-success-soft [&>svg]:text-success',
  warning: 'bg-warning-soft [&>svg]:text-warning',
  danger: 'bg-danger-soft [&>svg]:text-danger',
}

const icons = { info: Info, success: CircleCheck, warning: TriangleAlert, danger: CircleAlert }

interface AlertProps extends Omit<ComponentProps<'div'>, 'title'> {
  tone?: keyof typeof tones
  title: ReactNode
  /** Its first paragraph. */
  text?: ReactNode
}

/** Says what happened and what to do. An alert that appears after a press needs role="alert". */
export function Alert({ tone = 'info', title, text, className, children, ...rest }: AlertProps) {
  const Icon = icons[tone]
  return (
    <div
      className={cn('flex flex-wrap gap-x-3 gap-y-1 rounded-xl px-[min(1rem,5vw)] py-3.5', tones[tone], className)}
      {...rest}
    >
      <Icon className="mt-0.5 size-5 shrink-0" aria-hidden />
      {/* With large text the words stand below the picture. */}
      <div className="min-w-0 flex-1 basis-40 space-y-1">
        <div className="wrap-anywhere font-medium">{title}</div>
        {(text || children) && (
          <div className="wrap-anywhere space-y-2 text-ink-muted">
            {text && <p>{withWholeHyphens(text)}</p>}
            {children}
          </div>
        )}
      </div>
    </div>
  )
}
