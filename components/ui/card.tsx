import type { ComponentProps, ReactNode, RefObject } from 'react'
import { cn } from './class-names'

export function Card({ className, ...rest }: ComponentProps<'section'>) {
  return <section className={cn('rounded-2xl border border-line bg-surface shadow-rest', className)} {...rest} />
}

/** The card that is the whole page, with the heading of the page. */
export function PageCard({ title, text, children }: { title: string; text: ReactNode; children: ReactNode }) {
  return (
    <Card className="p-6 sm:p-8">
      <h1 className="font-semibold text-2xl leading-8 tracking-[-0.025em]">{title}</h1>
      <p className="mt-1 text-ink-muted">{text}</p>
      {children}
    </Card>
  )
}

interface CardHeaderProps {
  title: string
  /** Given if the heading takes the focus. */
  headingRef?: RefObject<HTMLHeadingElement | null>
  description?: ReactNode
  aside?: ReactNode
}

export function CardHeader({ title, headingRef, description, aside }: CardHeaderProps) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-5 pt-5 last:pb-5 sm:px-6 sm:pt-6 sm:last:pb-6">
      <div className="min-w-0">
        <h2
          ref={headingRef}
          tabIndex={headingRef && -1}
          className="wrap-anywhere scroll-mt-6 font-semibold text-base leading-6 tracking-[-0.01em] outline-none"
        >
          {title}
        </h2>
      </div>
      {aside}
      {/* Takes a line of its own however wide the card is. */}
      {description && (
        <div className="-mt-1 basis-full text-ink-muted">
          <p className="max-w-prose">{description}</p>
        </div>
      )}
    </div>
  )
}

export function CardBody({ className, ...rest }: ComponentProps<'div'>) {
  return <div className={cn('px-5 py-5 sm:px-6', className)} {...rest} />
}

export function CardFooter({ className, ...rest }: ComponentProps<'div'>) {
  return (
    <div
      className={cn(
        'flex flex-wrap items-center justify-between gap-3 rounded-b-2xl border-line border-t px-5 py-4 sm:px-6',
        className,
      )}
      {...rest}
    />
  )
}
