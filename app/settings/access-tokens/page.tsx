import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { AccessTokenSettings } from '@/components/access/access-token-settings'
import { PageHeading } from '@/components/page-heading'
import { listAccessTokens } from '@/domain/access/access-tokens'
import { getEnv } from '@/server/env'
import { pageContext } from '@/server/pages/session'

export const metadata: Metadata = { title: 'Access tokens' }

export default async function AccessTokensPage() {
  const ctx = await pageContext()
  if (!ctx) redirect('/sign-in?next=/settings/access-tokens')
  const { access_tokens } = await listAccessTokens(ctx)
  return (
    <>
      <PageHeading
        title="Access tokens"
        description="With a token a program can do in your name what these pages do, without your password."
      />
      <AccessTokenSettings
        userId={ctx.actor.userId}
        email={ctx.actor.user.email}
        baseUrl={getEnv().appUrl}
        initialTokens={access_tokens}
        renderedAt={ctx.clock.now().toISOString()}
      />
    </>
  )
}
