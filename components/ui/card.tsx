import type { ComponentProps, ReactNode } from 'react'
import { cn } from './class-names'

export function Card({ className, ...rest }: ComponentProps<'section'>) {
  return <section className={cn('rounded-2xl border border-line bg-surface shadow-rest', className)} {...rest} />
}

/** The card that is the whole page, with the heading of the page. */
export function PageCard({ title, text, children }: { title: string; text?: ReactNode; children: ReactNode }) {
  return (
    <Card className="p-card sm:p-8">
      <h1 className="wrap-break-word font-semibold text-2xl leading-8 tracking-[-0.025em]">{title}</h1>
      {text && <p className="mt-1 text-ink-muted">{text}</p>}
      {children}
    </Card>
  )
}

export function CardBody({ className, ...rest }: ComponentProps<'div'>) {
  return <div className={cn('px-card py-5 sm:px-6', className)} {...rest} />
}

export function CardFooter({ className, ...rest }: ComponentProps<'div'>) {
  return (
    <div
      className={cn(
        'flex flex-wrap items-center justify-between gap-3 rounded-b-2xl border-line border-t px-card py-4 sm:px-6',
        className,
      )}
      {...rest}
    />
  )
}
