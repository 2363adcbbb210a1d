import type { Route } from 'next'
import type { ReactNode } from 'react'
import { Contents } from '@/components/docs/contents'
import { Main } from '@/components/layout/main'
import { Page } from '@/components/layout/page'
import { PageHeading } from '@/components/layout/page-heading'
import { cn } from '@/components/ui/class-names'
import { accountOf, sessionIfReadable } from '@/server/pages/session'
import { CONTENTS, MEANINGS, OVERVIEW, SUGGESTED } from './reference'

/** One page of the reference, beside the contents of all of them. */
export async function ReferencePage({
  path,
  title,
  description,
  children,
}: {
  /** None for a page that does not exist. */
  path?: string
  title: string
  description: string
  children: ReactNode
}) {
  const session = await sessionIfReadable()
  return (
    <Page
      account={session && accountOf(session)}
      link={{ href: `/sign-in?next=${encodeURIComponent(path ?? OVERVIEW)}` as Route, label: 'Sign in' }}
    >
      <div className="group/docs mx-auto grid w-full max-w-5xl flex-1 content-start gap-x-10 px-edge sm:px-6 lg:grid-cols-[13.5rem_minmax(0,1fr)]">
        <Contents groups={CONTENTS} path={path} meanings={MEANINGS} suggested={SUGGESTED} />
        <Main className="min-w-0 space-y-12 py-8 lg:py-12">
          <PageHeading title={title} description={description} />
          {children}
        </Main>
      </div>
    </Page>
  )
}

interface SectionProps {
  id: string
  title: string
  className?: string
  children: ReactNode
}

/** A section of the reference that has an anchor. */
export const Section = ({ id, title, className, children }: SectionProps) => (
  <section id={id} aria-labelledby={`${id}-title`} className={cn('scroll-mt-16 border-line border-t pt-10', className)}>
    <h2 id={`${id}-title`} className="font-semibold text-xl leading-7 tracking-[-0.02em]">
      {title}
    </h2>
    {children}
  </section>
)

export const Chapter = (props: SectionProps) => <Section className="space-y-4 [&>p]:text-ink-muted" {...props} />
