'use client'

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { LiveRegion } from '../ui/announcement'
import { AccessTokenList } from './access-token-list'
import type { WaysToConfirm } from './confirm-identity'
import { CreateTokenForm } from './create-token-form'
import { NewToken } from './new-token'
import { type Outcome, OutcomeAlert } from './outcome'
import { type AccessToken, accessTokensKey, type NewAccessToken, useAccessTokens } from './use-access-tokens'

interface AccessTokenSettingsProps {
  userId: string
  email: string
  ways: WaysToConfirm
  baseUrl: string
  initialTokens: AccessToken[]
  renderedAt: string
}

export function AccessTokenSettings({
  userId,
  email,
  ways,
  baseUrl,
  initialTokens,
  renderedAt,
}: AccessTokenSettingsProps) {
  const t = useTranslations('AccessTokens')
  const queryClient = useQueryClient()
  const tokens = useAccessTokens(userId, initialTokens, renderedAt)
  // The token is kept in this page's memory only, until it is dismissed or the page is left.
  const [created, setCreated] = useState<NewAccessToken | null>(null)
  const [dismissals, setDismissals] = useState(0)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const refresh = () => queryClient.invalidateQueries({ queryKey: accessTokensKey(userId) })

  return (
    <div className="space-y-6">
      <LiveRegion>{outcome && <OutcomeAlert key={outcome.id} outcome={outcome} />}</LiveRegion>
      {created && (
        <NewToken
          userId={userId}
          baseUrl={baseUrl}
          token={created}
          onDismiss={() => {
            setCreated(null)
            setDismissals(dismissals + 1)
          }}
        />
      )}
      <AccessTokenList
        userId={userId}
        tokens={tokens}
        onRevoked={async ({ token_id, name }) => {
          if (token_id === created?.token_id) setCreated(null)
          setOutcome({
            id: token_id,
            title: t('revoked', { token: name }),
            text: t('revokedText'),
          })
          await refresh()
        }}
      />
      {!created && (
        <CreateTokenForm
          userId={userId}
          email={email}
          ways={ways}
          takesFocus={dismissals > 0}
          onCreated={(token) => {
            setOutcome(null)
            setCreated(token)
          }}
          onSettled={refresh}
        />
      )}
    </div>
  )
}
