import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { AccessTokenSettings } from '@/components/access/access-token-settings'
import { Unconfirmed } from '@/components/access/unconfirmed'
import { PageHeading } from '@/components/page-heading'
import { listAccessTokens } from '@/domain/access/access-tokens'
import { waysToConfirm } from '@/domain/access/fresh-sign-in'
import { getEnv } from '@/server/env'
import { pageContext } from '@/server/pages/session'

export const metadata: Metadata = { title: 'Access tokens' }

interface Props {
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function AccessTokensPage({ searchParams }: Props) {
  const ctx = await pageContext()
  if (!ctx) redirect('/sign-in?next=/settings/access-tokens')
  const ways = await waysToConfirm(ctx, 'token')
  const { unconfirmed } = await searchParams
  const { access_tokens } = await listAccessTokens(ctx)
  return (
    <>
      <PageHeading
        title="Access tokens"
        description="With a token a program can do in your name what these pages do, without your password."
      />
      <Unconfirmed reason={unconfirmed} provider={ways.provider} />
      <AccessTokenSettings
        userId={ctx.actor.userId}
        email={ctx.actor.user.email}
        ways={ways}
        baseUrl={getEnv().appUrl}
        initialTokens={access_tokens}
        renderedAt={ctx.clock.now().toISOString()}
      />
    </>
  )
}
