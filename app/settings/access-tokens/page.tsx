import { titled } from '@/app/page-title'
import { AccessTokenSettings } from '@/components/access/access-token-settings'
import { Unconfirmed } from '@/components/access/unconfirmed'
import { PageHeading } from '@/components/layout/page-heading'
import { Texts } from '@/components/layout/texts'
import { listAccessTokens } from '@/domain/sessions/access-tokens'
import { waysToConfirm } from '@/domain/sessions/fresh-sign-in'
import { pageTexts, textsOf } from '@/server/pages/language'
import { openPage, type PageProps, toSignIn } from '@/server/pages/session'
import { getEnv } from '@/server/settings/env'

export const generateMetadata = titled('AccessTokens', 'title')

export default async function AccessTokensPage(props: PageProps) {
  const ctx = await openPage()
  if (!ctx) return toSignIn('/settings/access-tokens', props)
  const t = await pageTexts('AccessTokens')
  const ways = await waysToConfirm(ctx, 'token')
  const { unconfirmed } = await props.searchParams
  const { access_tokens } = await listAccessTokens(ctx)
  return (
    <Texts texts={await textsOf(['AccessTokens', 'Identity'])}>
      <PageHeading title={t('title')} description={t('description')} />
      <Unconfirmed reason={unconfirmed} provider={ways.provider} />
      <AccessTokenSettings
        userId={ctx.actor.userId}
        email={ctx.actor.user.email}
        ways={ways}
        baseUrl={getEnv().appUrl}
        initialTokens={access_tokens}
        renderedAt={ctx.clock.now().toISOString()}
      />
    </Texts>
  )
}
