import { redirect } from 'next/navigation'
import { NewHere } from '@/app/new-here'
import { titled } from '@/app/page-title'
import { CenteredPage } from '@/components/layout/page'
import { Texts } from '@/components/layout/texts'
import { nextPath } from '@/components/session/next-path'
import { Alert } from '@/components/ui/alert'
import { PageCard } from '@/components/ui/card'
import { textLink } from '@/components/ui/text-link'
import type { FreshSignInSettings } from '@/domain/context'
import { pageTexts, textsOf } from '@/server/pages/language'
import { endOfSession, type PageProps, sessionIfReadable } from '@/server/pages/session'
import { getEnv } from '@/server/settings/env'
import { LinkHint } from './link-hint'
import { ProviderSignIn } from './provider-sign-in'
import { RestoreReturnPath } from './restore-return-path'
import { SignInForm } from './sign-in-form'

export const generateMetadata = titled('Common', 'signIn')

export default async function SignInPage({ searchParams }: PageProps) {
  const { next, ended, error, again } = await searchParams
  const { hasPasswordSignIn, identityProvider, freshSignIn } = getEnv()
  // The browser keeps the fragment over a redirect.
  const session = await sessionIfReadable()
  if (again === undefined && session) redirect(nextPath(next))
  // The form does not take the focus below a notice, so that screen readers read the notice first.
  const hasAlert =
    ended !== undefined || again !== undefined || error !== undefined || nextPath(next) === '/verify-email'
  const t = await pageTexts('SignIn')
  const common = await pageTexts('Common')
  return (
    <CenteredPage account={null}>
      <Texts texts={await textsOf(['SignIn'])}>
        {ended && <SessionEnded hasPasswordSignIn={hasPasswordSignIn} />}
        {again !== undefined && <Alert title={t('againTitle')} className="mb-6" text={t('againText')} />}
        {error !== undefined && identityProvider && <SignInRefused error={error} provider={identityProvider.name} />}
        {typeof error === 'string' && next === undefined && <RestoreReturnPath error={error} />}
        <PageCard title={common('signIn')}>
          {nextPath(next) === '/verify-email' && hasPasswordSignIn && <LinkHint />}
          {identityProvider && (
            <ProviderSignIn
              next={nextPath(next)}
              provider={identityProvider.name}
              isOnlyWay={!hasPasswordSignIn}
              asks={again === undefined ? {} : newSignIn(freshSignIn)}
            />
          )}
          {identityProvider && hasPasswordSignIn && (
            <p className="mt-6 flex items-center gap-3 text-ink-muted text-sm before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
              {t('orPassword')}
            </p>
          )}
          {hasPasswordSignIn && (
            <SignInForm next={nextPath(next)} takesFocus={!hasAlert} email={session?.emailStatus.current_email} />
          )}
          <p className="mt-3 text-sm">
            <a href="/delete-account" className={`-my-2.5 inline-block py-2.5 ${textLink}`}>
              {t('cannot')}
            </a>
          </p>
        </PageCard>
        <NewHere className="mt-6 text-center" />
      </Texts>
    </CenteredPage>
  )
}

async function SessionEnded({ hasPasswordSignIn }: { hasPasswordSignIn: boolean }) {
  const t = await pageTexts('SignIn')
  const why = await endOfSession()
  const texts = {
    deleted: 'endedDeletedText',
    // Elsewhere people do not sign in with the address.
    address_changed: hasPasswordSignIn ? 'endedChangedText' : 'endedText',
    change_undone: hasPasswordSignIn ? 'endedUndoneText' : 'endedText',
    password_changed: hasPasswordSignIn ? 'endedPasswordText' : 'endedText',
    other: 'endedText',
  } as const
  return <Alert title={t('endedTitle')} text={t(texts[why])} className="mb-6" />
}

/** Makes the provider ask for a new sign-in, one that counts as fresh. */
const newSignIn = ({ requiredAcr }: FreshSignInSettings): Record<string, string> => ({
  prompt: 'login',
  ...(requiredAcr !== null && { acr_values: requiredAcr }),
})

const REFUSALS = ['NoAccount', 'Unavailable'] as const

async function SignInRefused({ error, provider }: { error: string | string[]; provider: string }) {
  const t = await pageTexts('SignIn')
  return (
    <Alert
      tone="danger"
      role="alert"
      title={t('refusedTitle', { provider })}
      className="mb-6"
      text={t(`refused.${REFUSALS.find((name) => name === error) ?? 'other'}`)}
    />
  )
}
