import type { ComponentProps, ReactNode } from 'react'
import { cn } from '../ui/class-names'
import { centeredColumn, Main } from './main'
import { SiteFooter } from './site-footer'
import { SiteHeader } from './site-header'

interface PageProps extends ComponentProps<typeof SiteHeader> {
  children: ReactNode
}

/** The header and the footer of a page, around its content. */
export function Page({ children, ...header }: PageProps) {
  return (
    <>
      <SiteHeader {...header} />
      {children}
      <SiteFooter isSignedIn={header.account !== null} />
    </>
  )
}

interface ColumnPageProps extends ComponentProps<typeof Page> {
  className?: string
  /** Stands above the content, and is what the skip link skips. */
  above?: ReactNode
}

export const ColumnPage = ({ className = 'max-w-5xl', above, children, ...header }: ColumnPageProps) => (
  <Page {...header}>
    <div className={cn('mx-auto w-full flex-1 px-edge py-8 sm:px-6 lg:py-12 print:p-0', className)}>
      {above}
      <Main>{children}</Main>
    </div>
  </Page>
)

/** One card in the middle, for a page with one thing to do. */
export const CenteredPage = ({ children, ...header }: ComponentProps<typeof Page>) => (
  <Page {...header}>
    <Main className={cn(centeredColumn, 'sm:py-16')}>{children}</Main>
  </Page>
)
