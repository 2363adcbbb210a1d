import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { nextPath } from '@/components/next-path'
import { CenteredPage } from '@/components/page'
import { Alert } from '@/components/ui/alert'
import { Card } from '@/components/ui/card'
import { currentSession } from '@/server/pages/session'
import { SignInForm } from './sign-in-form'

export const metadata: Metadata = { title: 'Sign in' }

interface Props {
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function SignInPage({ searchParams }: Props) {
  const { next, ended } = await searchParams
  // The browser keeps the fragment over a redirect.
  if (await currentSession()) redirect(nextPath(next))
  return (
    <CenteredPage account={null}>
      {ended && (
        <Alert title="Your session has ended" className="mb-6">
          <p>Sign in again to go on where you were.</p>
          <p>If your email address was changed just now, sign in with the new one.</p>
        </Alert>
      )}
      <Card className="p-6 sm:p-8">
        <h1 className="font-semibold text-2xl leading-8 tracking-[-0.025em]">Sign in</h1>
        <p className="mt-1 text-ink-muted">to your User Account Service account</p>
        <SignInForm next={nextPath(next)} />
      </Card>
    </CenteredPage>
  )
}
