'use client'

import { useTranslations } from 'use-intl/react'
import { CodeBlock } from '../docs/code-block'
import { Alert } from '../ui/alert'
import { Button } from '../ui/button'
import { Card, CardBody, CardFooter } from '../ui/card'
import { CardHeader } from '../ui/card-header'
import { LocalTime } from '../ui/local-time'
import { textLink } from '../ui/text-link'
import { useFocusOnMount } from '../ui/use-focus-on-mount'
import type { NewAccessToken } from './use-access-tokens'

interface NewTokenProps {
  userId: string
  baseUrl: string
  token: NewAccessToken
  onDismiss: () => void
}

export function NewToken({ userId, baseUrl, token, onDismiss }: NewTokenProps) {
  const t = useTranslations('AccessTokens')
  const heading = useFocusOnMount<HTMLHeadingElement>(true)
  return (
    <Card className="fade-in animate-in duration-200">
      <CardHeader
        title={t('ready', { token: token.name })}
        headingRef={heading}
        description={t.rich('worksUntil', { date: () => <LocalTime dateTime={token.expires_at} format="date" /> })}
      />
      <CardBody className="space-y-5">
        <Alert tone="warning" title={t('copyNow')} text={t('copyNowText')} />
        <CodeBlock title={t('token')} label={t('tokenLabel')} code={token.access_token} />
        <div className="space-y-2.5">
          <CodeBlock
            title={t('shell')}
            label={t('shellLabel')}
            code={[`export BASE=${baseUrl}`, `export USER_ID=${userId}`, `export TOKEN=${token.access_token}`].join(
              '\n',
            )}
          />
          <p className="text-ink-muted text-sm">
            {t.rich('shellHint', {
              link: (text) => (
                <a href="/docs/api" target="_blank" rel="noreferrer" className={textLink}>
                  {text}
                </a>
              ),
              sr: (text) => <span className="sr-only">{text}</span>,
            })}
          </p>
        </div>
      </CardBody>
      <CardFooter className="justify-end">
        <Button variant="secondary" className="w-full sm:w-auto" onClick={onDismiss}>
          {t('done')}
        </Button>
      </CardFooter>
    </Card>
  )
}
