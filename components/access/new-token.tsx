'use client'

import { CodeBlock } from '../docs/code-block'
import { Alert } from '../ui/alert'
import { Button } from '../ui/button'
import { Card, CardBody, CardFooter, CardHeader } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import { textLink } from '../ui/text-link'
import { useFocusOnMount } from '../ui/use-focus-on-mount'
import type { NewAccessToken } from './access-tokens'

interface NewTokenProps {
  userId: string
  baseUrl: string
  token: NewAccessToken
  onDismiss: () => void
}

export function NewToken({ userId, baseUrl, token, onDismiss }: NewTokenProps) {
  const heading = useFocusOnMount<HTMLHeadingElement>(true)
  return (
    <Card className="fade-in animate-in duration-200">
      <CardHeader
        title={`“${token.name}” is ready`}
        headingRef={heading}
        description={
          <>
            It works until <LocalTime dateTime={token.expires_at} format="date" />.
          </>
        }
      />
      <CardBody className="space-y-5">
        <Alert tone="warning" title="Copy the token now: it is not shown again">
          <p>Keep it as safe as a password. If you lose it, revoke it and create another.</p>
        </Alert>
        <CodeBlock title="Access token" label="the access token" code={token.access_token} />
        <div className="space-y-2.5">
          <CodeBlock
            title="For a shell"
            label="the settings for a shell"
            code={[`BASE=${baseUrl}`, `USER_ID=${userId}`, `TOKEN=${token.access_token}`].join('\n')}
          />
          <p className="text-ink-muted text-sm">
            With these lines set, the examples of the{' '}
            <a href="/docs/api" target="_blank" rel="noreferrer" className={textLink}>
              API documentation
              <span className="sr-only"> (opens in a new tab)</span>
            </a>{' '}
            work as pasted.
          </p>
        </div>
      </CardBody>
      <CardFooter className="justify-end">
        <Button variant="secondary" className="w-full sm:w-auto" onClick={onDismiss}>
          Done, I have copied it
        </Button>
      </CardFooter>
    </Card>
  )
}
