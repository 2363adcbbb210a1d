'use client'

import { KeyRound } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { call } from '../api/load-contract'
import { ConfirmedButton } from '../forms/confirmed-button'
import { bold } from '../ui/bold'
import { Card, CardBody } from '../ui/card'
import { CardHeader } from '../ui/card-header'
import { LocalTime } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'
import { ignoreEnded } from './ignore-ended'
import { ScopeName } from './scope-name'
import type { AccessToken } from './use-access-tokens'

interface AccessTokenListProps {
  userId: string
  tokens: readonly AccessToken[]
  onRevoked: (token: AccessToken) => void
}

export function AccessTokenList({ userId, tokens, onRevoked }: AccessTokenListProps) {
  const t = useTranslations('AccessTokens')
  return (
    <Card>
      <CardHeader title={t('listTitle')} description={tokens.length > 0 && t('listHint')} />
      <CardBody>
        {tokens.length > 0 ? (
          <ul className="divide-y divide-line">
            {tokens.map((token) => (
              <TokenRow key={token.token_id} userId={userId} token={token} onRevoked={() => onRevoked(token)} />
            ))}
          </ul>
        ) : (
          <NoTokens />
        )}
      </CardBody>
    </Card>
  )
}

interface TokenRowProps {
  userId: string
  token: AccessToken
  onRevoked: () => void
}

function TokenRow({ userId, token, onRevoked }: TokenRowProps) {
  const t = useTranslations('AccessTokens')
  const { token_id: accessId, name, scopes, created_at, expires_at, last_used_at } = token
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3 py-5 first:pt-0 last:pb-0 sm:flex-nowrap">
      <div className="min-w-0 space-y-1.5">
        <p className="wrap-anywhere font-medium">{name}</p>
        <ul className="text-ink-muted">
          {scopes.map((scope) => (
            <li key={scope}>
              <ScopeName scope={scope} />
            </li>
          ))}
        </ul>
        <dl id={`${accessId}-dates`} className="flex flex-wrap gap-x-6 gap-y-0.5 text-sm">
          <Fact label={t('created')}>
            <LocalTime dateTime={created_at} format="date" />
          </Fact>
          <Fact label={t('expires')}>
            <RelativeTime dateTime={expires_at} />
          </Fact>
          <Fact label={t('lastUsed')}>{last_used_at ? <RelativeTime dateTime={last_used_at} /> : t('never')}</Fact>
        </dl>
      </div>
      <ConfirmedButton
        label={
          <span>{t.rich('revoke', { token: name, name: (text) => <span className="sr-only">{text}</span> })}</span>
        }
        describedBy={`${accessId}-dates`}
        question={t('revokeQuestion')}
        consequence={<p>{t.rich('revokeConsequence', { token: name, name: bold })}</p>}
        keep={t('keep')}
        confirm={t('revokeConfirm')}
        act={() => call('revokeAccessToken', { userId, accessId }).catch(ignoreEnded)}
        onDone={onRevoked}
      />
    </li>
  )
}

function NoTokens() {
  const t = useTranslations('AccessTokens')
  return (
    <div className="flex items-center gap-4">
      <span className="grid size-10 shrink-0 place-items-center rounded-full bg-sunken" aria-hidden>
        <KeyRound className="size-4.5 text-ink-muted" />
      </span>
      <p className="text-ink-muted">{t('none')}</p>
    </div>
  )
}

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className="flex gap-1.5">
    <dt className="text-ink-muted">{label}</dt>
    <dd>{children}</dd>
  </div>
)
