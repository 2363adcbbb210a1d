import type { Metadata } from 'next'
import type { ReactNode } from 'react'
import { CodeBlock } from '@/components/docs/code-block'
import { Contents, type ContentsGroup } from '@/components/docs/contents'
import { Code, Rows } from '@/components/docs/rows'
import { Main } from '@/components/main'
import { Page } from '@/components/page'
import { PageHeading } from '@/components/page-heading'
import { textLink } from '@/components/ui/text-link'
import { SCOPES, SERVICE_SCOPES } from '@/contract/define'
import { ERRORS, type ErrorCode } from '@/contract/errors'
import { GROUPS, tagOf } from '@/contract/openapi'
import { operations } from '@/contract/operations'
import { MAX_BODY_BYTES } from '@/contract/vocabulary'
import { webhooks } from '@/contract/webhooks'
import { systemContext } from '@/server/context'
import { getEnv } from '@/server/env'
import { accountOf, sessionIfReadable } from '@/server/pages/session'
import { ErrorRows } from './error-rows'
import { Message } from './message'
import { Operation } from './operation'
import { LANGUAGES } from './samples'

export const metadata: Metadata = { title: 'API documentation' }

const chapters = [
  ['authentication', 'Authentication'],
  ['envelope', 'Requests and responses'],
  ['limits', 'Rate limits'],
  ['idempotency', 'Idempotency'],
  ['errors', 'Common errors'],
] as const

const GROUPED = GROUPS.map((group) => ({
  ...group,
  id: group.name.toLowerCase(),
  operations: operations.filter((contract) => tagOf(contract) === group.name),
}))

const CONTENTS: ContentsGroup[] = [
  { title: 'Basics', entries: chapters.map(([id, title]) => ({ id, title })) },
  ...GROUPED.map(({ name, operations: members }) => ({
    title: name,
    entries: members.map((one) => ({
      id: one.name,
      title: one.summary,
      mark: one.method,
      words: `${one.path} ${one.description} ${Object.keys(one.body?.shape ?? {}).join(' ')}`,
    })),
  })),
  {
    title: 'Webhooks',
    entries: [
      { id: 'webhooks', title: 'Receiving messages' },
      ...webhooks.map(({ name, summary, description }) => ({
        id: name,
        title: summary,
        words: `${name} ${description}`,
      })),
    ],
  },
]

/** The key stays the same until the answer is there; a new one would be a new intention. */
const REPEATED_CALL = `# Once for each thing that you want done. Keep it with your own record of it.
KEY=$(node -p 'crypto.randomUUID()')

ask() {
  curl -sS -X POST "$BASE/api/v1/users/$USER_ID/email/change" \\
    -H "Authorization: Bearer $TOKEN" \\
    -H "X-Required-Scope: email:manage" \\
    -H "Idempotency-Key: $KEY" \\
    -H "Content-Type: application/json" \\
    -d "{\\"new_email\\": \\"$NEW_EMAIL\\", \\"current_password\\": \\"$PASSWORD\\"}"
}

# The same key and the same body each time, until an answer arrives.
until ask; do sleep 2; done`

const SUCCESS = {
  success: true,
  data: {},
  message: 'Present where something was done.',
  timestamp: '2026-11-20T09:00:00.000Z',
}
const FAILURE = {
  success: false,
  error: { code: 'EMAIL_007', message: ERRORS.EMAIL_007.message, details: ERRORS.EMAIL_007.details },
  timestamp: '2026-11-20T09:00:00.000Z',
}

const ofEveryEndpoint = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => /^(AUTH|REQUEST|RATE|SERVER)_/.test(code))

const RETRY_AFTER = 1800

export default async function ApiDocumentationPage() {
  const session = await sessionIfReadable()
  const { change } = systemContext().limits
  return (
    <Page account={session && accountOf(session)} link={{ href: '/sign-in?next=/docs/api', label: 'Sign in' }}>
      <div className="group/docs mx-auto grid w-full max-w-6xl flex-1 content-start gap-x-12 px-4 sm:px-6 lg:grid-cols-[15rem_minmax(0,1fr)]">
        <Contents groups={CONTENTS} />
        <Main className="min-w-0 space-y-12 py-8 lg:py-12">
          <div>
            <PageHeading
              title="API documentation"
              description="Everything the pages do, your program can do too: the pages call this same API."
            />
            <p className="text-ink-muted">
              For code generators and test tools, the whole contract as{' '}
              <a href="/api/v1/openapi.json" className={textLink}>
                OpenAPI 3.1
              </a>
              . New members, codes and operations may be added to this version at any time; nothing is renamed or
              removed.
            </p>
            <div className="mt-4 space-y-4">
              <CodeBlock
                title="Shell"
                label="the settings for the examples"
                code={[
                  `export BASE=${getEnv().appUrl}`,
                  `export USER_ID=${session?.userId ?? 'usr_…'}`,
                  'export TOKEN=uat_…',
                  'export EXTERNAL_ID=…',
                  'export SERVICE_TOKEN=svc_…',
                ].join('\n')}
              />
              <p className="text-ink-muted">
                The examples run as pasted once these, and the variables that an operation names, are set. A person
                makes a token under{' '}
                <a href="/settings/access-tokens" className={textLink}>
                  Access tokens
                </a>
                ; the operator creates service tokens. TypeScript takes the typed client, and Python its standard
                library.
              </p>
              <fieldset className="flex flex-wrap items-center gap-x-5 gap-y-2">
                <legend className="float-start me-5 font-medium">Examples in</legend>
                {Object.entries(LANGUAGES).map(([language, title]) => (
                  <label key={language} className="flex items-center gap-2 py-1">
                    <input
                      type="radio"
                      name="language"
                      id={`language-${language}`}
                      defaultChecked={language === 'curl'}
                      className="size-4 accent-accent"
                    />
                    {title}
                  </label>
                ))}
              </fieldset>
            </div>
          </div>

          <Chapter id="authentication" title="Authentication">
            <p>
              Send an access token (<Code>uat_…</Code>) as <Code>Authorization: Bearer</Code>, and the endpoint's scope
              in <Code>X-Required-Scope</Code>, exactly once. The token itself has to hold that scope, and opens only
              the paths of its own user.
            </p>
            <Rows rows={Object.entries(SCOPES).map(([scope, text]) => ({ key: scope, name: scope, text }))} />
            <p>
              In a path, the user is the <Code>usr_…</Code> id, or <Code>~</Code> and the percent-encoded external id.
            </p>
            <p>
              Your own services call <Code>/api/v1/admin/…</Code> with a service token (<Code>svc_…</Code>), which the
              operator creates. It acts for no user and opens nothing else; a user's token never opens these paths.
            </p>
            <Rows rows={Object.entries(SERVICE_SCOPES).map(([scope, text]) => ({ key: scope, name: scope, text }))} />
          </Chapter>

          <Chapter id="envelope" title="Requests and responses">
            <p>
              Bodies are JSON in UTF-8, {MAX_BODY_BYTES / 1024} KiB at most; fields that an operation does not know are
              ignored. Times are UTC, ISO 8601 with milliseconds. Every answer has one of two forms, and{' '}
              <Code>X-Request-Id</Code> names the call when you ask for help.
            </p>
            <div className="grid gap-3 xl:grid-cols-2">
              <CodeBlock title="Success" label="the form of a success" code={JSON.stringify(SUCCESS, null, 2)} />
              <CodeBlock title="Error" label="the form of an error" code={JSON.stringify(FAILURE, null, 2)} />
            </div>
            <p>
              Decide by <Code>code</Code>: it never changes. <Code>message</Code> is its fixed meaning, and{' '}
              <Code>details</Code> says what to do.
            </p>
          </Chapter>

          <Chapter id="limits" title="Rate limits">
            <p>Limits are rolling windows. A limited answer, success and error alike, carries these headers:</p>
            <Rows
              rows={[
                {
                  key: 'policy',
                  name: 'RateLimit-Policy',
                  note: `"change";q=${change.places};w=${change.windowMs / 1000}`,
                  text: 'The limit: q places in any w seconds.',
                },
                {
                  key: 'limit',
                  name: 'RateLimit',
                  note: `"change";r=${Math.max(change.places - 1, 0)};t=${RETRY_AFTER}`,
                  text: 'What is left: r places now, and t seconds until the next one comes free.',
                },
                {
                  key: 'retry',
                  name: 'Retry-After',
                  note: RETRY_AFTER,
                  text: 'In whole seconds. After a 429, waiting exactly that long makes the next call pass; elsewhere it is a good guess.',
                },
              ]}
            />
          </Chapter>

          <Chapter id="idempotency" title="Idempotency">
            <p>
              When an answer was lost, send the same <Code>POST</Code> again with the same <Code>Idempotency-Key</Code>{' '}
              (any text of your choice, such as a UUID). Within 24 hours the first answer comes back and nothing happens
              twice. The same key with another body is refused with <Code>REQUEST_006</Code>.
            </p>
            <div data-operation="repeated" data-language="curl">
              <CodeBlock title="curl" label="the repeated call" code={REPEATED_CALL} />
            </div>
          </Chapter>

          <Chapter id="errors" title="Common errors">
            <p>Every operation can answer with these. Those of its own stand with the operation.</p>
            <ErrorRows codes={ofEveryEndpoint} />
          </Chapter>

          {GROUPED.map(({ id, name, description, operations: members }) => (
            <section key={id} aria-labelledby={id} className="space-y-12 border-line border-t pt-10">
              <div>
                <h2 id={id} className="scroll-mt-16 font-semibold text-xl leading-7 tracking-[-0.02em]">
                  {name}
                </h2>
                <p className="mt-2 text-ink-muted">{description}.</p>
              </div>
              {members.map((contract) => (
                <Operation key={contract.name} contract={contract} />
              ))}
            </section>
          ))}

          <Chapter id="webhooks" title="Webhooks">
            <p>
              The service sends these to connected applications by <Code>POST</Code>, signed as{' '}
              <a href="https://www.standardwebhooks.com" className={textLink}>
                Standard Webhooks
              </a>{' '}
              say: verify <Code>webhook-id</Code>, <Code>webhook-timestamp</Code> and <Code>webhook-signature</Code>{' '}
              before you read the body. <Code>createReceiver</Code> of the typed client does it.
            </p>
            <p>
              Any 2xx, 404 and 410 end a message; for a message with a task, 202 accepts it and a report ends it.
              Everything else has it sent again with the same <Code>webhook-id</Code>, so handling it twice must change
              nothing.
            </p>
          </Chapter>
          {webhooks.map((webhook) => (
            <Message key={webhook.name} webhook={webhook} />
          ))}
        </Main>
      </div>
    </Page>
  )
}

function Chapter({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section
      id={id}
      aria-labelledby={`${id}-title`}
      className="scroll-mt-16 space-y-4 border-line border-t pt-10 [&>p]:text-ink-muted"
    >
      <h2 id={`${id}-title`} className="font-semibold text-xl leading-7 tracking-[-0.02em]">
        {title}
      </h2>
      {children}
    </section>
  )
}
