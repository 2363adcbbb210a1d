import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { nextPath } from '@/components/next-path'
import { CenteredPage } from '@/components/page'
import { Alert } from '@/components/ui/alert'
import { Card } from '@/components/ui/card'
import { getEnv } from '@/server/env'
import { currentSession } from '@/server/pages/session'
import { ProviderSignIn } from './provider-sign-in'
import { SignInForm } from './sign-in-form'

export const metadata: Metadata = { title: 'Sign in' }

interface Props {
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function SignInPage({ searchParams }: Props) {
  const { next, ended, error } = await searchParams
  const { passwordSignIn, identityProvider } = getEnv()
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
      {error !== undefined && identityProvider && <SignInRefused error={error} provider={identityProvider.name} />}
      <Card className="p-6 sm:p-8">
        <h1 className="font-semibold text-2xl leading-8 tracking-[-0.025em]">Sign in</h1>
        <p className="mt-1 text-ink-muted">to your User Account Service account</p>
        {identityProvider && <ProviderSignIn next={nextPath(next)} provider={identityProvider.name} />}
        {identityProvider && passwordSignIn && (
          <p className="mt-6 flex items-center gap-3 text-ink-muted text-sm before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
            or with a password
          </p>
        )}
        {passwordSignIn && <SignInForm next={nextPath(next)} />}
      </Card>
    </CenteredPage>
  )
}

const sentences: Record<string, string> = {
  NoAccount:
    'You are signed in there, but no account of this service belongs to you. Ask our support, or choose another account there.',
  Unavailable: 'A part of the service is away. Try again in a moment.',
}

function SignInRefused({ error, provider }: { error: string | string[]; provider: string }) {
  const sentence = typeof error === 'string' && Object.hasOwn(sentences, error) ? sentences[error] : undefined
  return (
    <Alert tone="danger" role="alert" title={`Signing in with ${provider} did not work`} className="mb-6">
      <p>{sentence ?? 'It was cancelled, took too long, or could not be checked. Try again.'}</p>
    </Alert>
  )
}
