import type { Metadata } from 'next'
import type { ReactNode } from 'react'
import { CodeBlock } from '@/components/docs/code-block'
import { Code, Rows } from '@/components/docs/rows'
import { Main } from '@/components/main'
import { Page } from '@/components/page'
import { PageHeading } from '@/components/page-heading'
import { textLink } from '@/components/ui/text-link'
import { SCOPES, SERVICE_SCOPES } from '@/contract/define'
import { ERRORS, type ErrorCode } from '@/contract/errors'
import { adminOperations, operations, userOperations } from '@/contract/operations'
import { MAX_BODY_BYTES } from '@/contract/vocabulary'
import { systemContext } from '@/server/context'
import { getEnv } from '@/server/env'
import { ErrorRows } from './error-rows'
import { Operation } from './operation'

export const metadata: Metadata = { title: 'API documentation' }

const chapters = [
  ['authentication', 'Authentication'],
  ['envelope', 'Answers'],
  ['limits', 'Limits'],
  ['idempotency', 'Repeating a call'],
] as const

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

export default function ApiDocumentationPage() {
  const { change } = systemContext().limits
  return (
    <Page account={null} link={{ href: '/settings/email', label: 'Settings' }}>
      <div className="mx-auto grid w-full max-w-5xl flex-1 content-start gap-x-12 px-4 py-8 sm:px-6 lg:grid-cols-[12rem_minmax(0,1fr)] lg:py-12">
        <nav aria-label="On this page" className="max-lg:hidden">
          <ul className="sticky top-8 space-y-0.5 text-sm">
            {chapters.map(([id, title]) => (
              <Entry key={id} id={id} title={title} />
            ))}
            <li className="pt-4 pb-1 font-medium">Operations</li>
            {userOperations.map(({ name, summary }) => (
              <Entry key={name} id={name} title={summary} />
            ))}
            <li className="pt-4 pb-1 font-medium">For your services</li>
            {adminOperations.map(({ name, summary }) => (
              <Entry key={name} id={name} title={summary} />
            ))}
            <li className="pt-4 pb-1 font-medium">More</li>
            <Entry id="errors" title="Errors of every endpoint" />
          </ul>
        </nav>
        <Main className="min-w-0 space-y-12">
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
              . The examples below work as pasted, once these are set:
            </p>
            <div className="mt-4">
              <CodeBlock
                title="Shell"
                label="the settings for the examples"
                code={[
                  `BASE=${getEnv().appUrl}`,
                  'USER_ID=usr_…',
                  'TOKEN=uat_…',
                  'EXTERNAL_ID=…',
                  'SERVICE_TOKEN=svc_…',
                ].join('\n')}
              />
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

          <Chapter id="envelope" title="Answers">
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

          <Chapter id="limits" title="Limits">
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

          <Chapter id="idempotency" title="Repeating a call">
            <p>
              When an answer was lost, send the same <Code>POST</Code> again with the same <Code>Idempotency-Key</Code>{' '}
              (any text of your choice, such as a UUID). Within 24 hours the first answer comes back and nothing happens
              twice. The same key with another body is refused with <Code>REQUEST_006</Code>.
            </p>
            <CodeBlock title="Header" label="the header" code={'-H "Idempotency-Key: $(uuidgen)"'} />
          </Chapter>

          {operations.map((contract) => (
            <Operation key={contract.name} contract={contract} />
          ))}

          <Chapter id="errors" title="Errors of every endpoint">
            <ErrorRows codes={ofEveryEndpoint} />
          </Chapter>
        </Main>
      </div>
    </Page>
  )
}

function Entry({ id, title }: { id: string; title: string }) {
  return (
    <li>
      <a href={`#${id}`} className="block rounded-md py-1 text-ink-muted hover:text-ink">
        {title}
      </a>
    </li>
  )
}

function Chapter({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section aria-labelledby={id} className="space-y-4 border-line border-t pt-10 [&>p]:text-ink-muted">
      <h2 id={id} className="scroll-mt-6 font-semibold text-xl leading-7 tracking-[-0.02em]">
        {title}
      </h2>
      {children}
    </section>
  )
}
