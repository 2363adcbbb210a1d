import type { Metadata } from 'next'
import { Fragment, type ReactNode } from 'react'
import { CodeBlock } from '@/components/docs/code-block'
import { Code, ReferenceRows } from '@/components/docs/reference-rows'
import { textLink } from '@/components/ui/text-link'
import { SCOPES, SERVICE_SCOPES } from '@/contract/define'
import { ERRORS } from '@/contract/errors'
import { tagOf } from '@/contract/openapi'
import { OPERATIONS, type OperationName } from '@/contract/operations'
import { MAX_BODY_BYTES } from '@/contract/vocabulary'
import { webhooks } from '@/contract/webhooks'
import { sessionIfReadable } from '@/server/pages/session'
import { getEnv } from '@/server/settings/env'
import { systemContext } from '@/server/system-context'
import { ErrorRows } from './error-rows'
import { limitText } from './limit-text'
import { exampleAnswer } from './operation'
import { ALL_ERRORS, CHAPTERS, COMMON_CODES, LIMITED, OPERATION_GROUPS, OVERVIEW, pathOf, WEBHOOKS } from './reference'
import { Chapter, ReferencePage } from './reference-page'
import { curl, sampleOf } from './samples'

export const metadata: Metadata = { title: 'API documentation' }

export default async function ApiDocumentationPage() {
  const session = await sessionIfReadable()
  return (
    <ReferencePage
      path={OVERVIEW}
      title="API documentation"
      description="Everything the pages do, your program can do too: the pages call this same API."
    >
      <Pages />
      <Examples userId={session?.userId ?? 'usr_…'} />
      <Authentication />
      <Envelope />
      <RateLimits />
      <Idempotency />
      <Deleting />
      <Chapter id="errors" title={CHAPTERS.errors}>
        <p>
          Every operation can answer with these. Those of its own stand with the operation, and all of them in{' '}
          <a href={pathOf(ALL_ERRORS.id)} className={textLink}>
            one list
          </a>
          .
        </p>
        <ErrorRows codes={COMMON_CODES} of="errors" />
      </Chapter>
      <AllOperations />
    </ReferencePage>
  )
}

const TASKS = [
  ['change an address', `${pathOf('email')}#changeEmail`],
  ['delete an account from your backend', '#deleting'],
  ['receive deletion tasks', `${pathOf(WEBHOOKS.id)}#registering`],
  ['verify a signature', `${pathOf(WEBHOOKS.id)}#verifying`],
] as const

/** The pages of the reference, and the document for programs. */
const Pages = () => (
  <Chapter id="introduction" title={CHAPTERS.introduction}>
    <p>
      People change and verify their email address, and delete their account (in the API a <em>withdrawal</em>). Your
      own applications are told, and confirm what they have deleted. Begin with what you want to do:{' '}
      {TASKS.map(([task, path], index) => (
        <Fragment key={path}>
          {index > 0 && ', '}
          <a href={path} className={textLink}>
            {task}
          </a>
        </Fragment>
      ))}
      .
    </p>
    <ul className="grid gap-x-8 gap-y-3 sm:grid-cols-2">
      {[...OPERATION_GROUPS, WEBHOOKS, ALL_ERRORS].map(({ id, name, description }) => (
        <li key={id}>
          <a href={pathOf(id)} className={textLink}>
            {name}
          </a>
          <span className="block text-ink-muted">{description}</span>
        </li>
      ))}
    </ul>
    <p>
      For code generators and test tools, the whole contract as{' '}
      <a href="/api/v1/openapi.json" className={textLink}>
        OpenAPI 3.1
      </a>
      . New fields, codes and operations may be added to this version at any time; nothing is renamed or removed.
    </p>
  </Chapter>
)

const FIRST_CALL = OPERATIONS.getEmailStatus

const Examples = ({ userId }: { userId: string }) => (
  <Chapter id="examples" title={CHAPTERS.examples}>
    <CodeBlock
      title="Shell"
      label="the settings for the examples"
      code={[
        `export BASE=${getEnv().appUrl}`,
        `export USER_ID=${userId}`,
        'export TOKEN=uat_…',
        'export EXTERNAL_ID=…',
        'export SERVICE_TOKEN=svc_…',
      ].join('\n')}
    />
    <p className="text-ink-muted">
      The examples run as pasted once these, and the variables that an operation names, are set. A person makes a token
      under{' '}
      <a href="/settings/access-tokens" className={textLink}>
        Access tokens
      </a>
      , and the operator creates service tokens. Python takes its standard library, and TypeScript the typed client,
      which returns <Code>data</Code> of the shown answer alone and throws <Code>ApiError</Code> on a refusal. Save an
      example in TypeScript as <Code>example.mts</Code> in the directory of the service, and run{' '}
      <Code>npx node example.mts</Code>. Elsewhere it needs Node 24 and the package that{' '}
      <Code>npm run pack:client</Code> makes.
    </p>
    <p>
      For a trial, these set <Code>USER_ID</Code> and <Code>TOKEN</Code> for the account of the first start. Without a
      mail server, mails with their codes stand at{' '}
      <a href="/dev/mailbox" className={textLink}>
        /dev/mailbox
      </a>
      :
    </p>
    <CodeBlock
      title="Operator command"
      label="the settings for a trial"
      code={[
        'export USER_ID=$(npm run -s account -- user find demo@example.com --only user_id)',
        'export TOKEN=$(npm run -s account -- token create --user $USER_ID \\',
        '  --scope email:manage --only access_token)',
      ].join('\n')}
    />
    <p>A first call:</p>
    <CodeBlock title="curl" label="a first call" code={sampleOf(FIRST_CALL, 'curl')} />
    <CodeBlock title="Answer" label="its answer" code={JSON.stringify(exampleAnswer(FIRST_CALL), null, 2)} />
  </Chapter>
)

const Authentication = () => (
  <Chapter id="authentication" title={CHAPTERS.authentication}>
    <p>
      Send an access token (<Code>uat_…</Code>) as <Code>Authorization: Bearer</Code>, and the endpoint’s scope in{' '}
      <Code>X-Required-Scope</Code>, exactly once. The token itself has to hold that scope, and opens only the paths of
      its own user. Access tokens of your own issuer (JWT, RFC 9068) do the same where the operator has set it up.
    </p>
    <ReferenceRows rows={Object.entries(SCOPES).map(([scope, text]) => ({ key: scope, name: scope, text }))} />
    <p>
      In a path, the user is the <Code>usr_…</Code> id, or <Code>~</Code> and the percent-encoded external id.
    </p>
    <p>
      Your own services call <Code>/api/v1/admin/…</Code> with a service token (<Code>svc_…</Code>). It acts for no user
      and opens nothing else; a user’s token never opens these paths. The operator creates it:
    </p>
    <CodeBlock
      title="Operator command"
      label="the command that creates a service token"
      code="npm run -s account -- service-token create --name shop --scope users:write"
    />
    <ReferenceRows rows={Object.entries(SERVICE_SCOPES).map(([scope, text]) => ({ key: scope, name: scope, text }))} />
    <p id="roles" className="scroll-mt-16">
      The operator command alone changes an account that has a role, such as <Code>operator</Code>. A service token gets{' '}
      <Code>AUTH_002</Code> for it, whatever its scope, but may read it.
    </p>
  </Chapter>
)

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

const Envelope = () => (
  <Chapter id="envelope" title={CHAPTERS.envelope}>
    <p>
      Bodies are JSON in UTF-8, {MAX_BODY_BYTES / 1024} KiB at most; fields that an operation does not know are ignored.
      Times are UTC, ISO 8601 with milliseconds. Every answer has one of two forms, and <Code>X-Request-Id</Code> names
      the call when you ask for help.
    </p>
    <div className="grid gap-3 xl:grid-cols-2">
      <CodeBlock title="Success" label="the form of a success" code={JSON.stringify(SUCCESS, null, 2)} />
      <CodeBlock title="Error" label="the form of an error" code={JSON.stringify(FAILURE, null, 2)} />
    </div>
    <p>
      Decide by <Code>code</Code>: it never changes. <Code>message</Code> is its fixed meaning, and <Code>details</Code>{' '}
      says what to do.
    </p>
  </Chapter>
)

const RETRY_AFTER = 1800
function RateLimits() {
  const { change } = systemContext().limits
  return (
    <Chapter id="limits" title={CHAPTERS.limits}>
      <p>Limits are rolling windows. A limited answer, success and error alike, carries these headers:</p>
      <ReferenceRows
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
      <p>This installation allows:</p>
      <ReferenceRows
        rows={LIMITED.map(({ limit, what }) => ({ key: limit, name: what, text: `${limitText(limit)}.` }))}
      />
      <p>Any other limit, such as that of wrong passwords, shows its headers only where it refuses.</p>
    </Chapter>
  )
}

/** The key stays the same until the answer is there; a new one would be a new intention. */
const KEY = `# Once for each thing that you want done. Keep it with your own record of it.
KEY=$(node -p 'crypto.randomUUID()')

`
const REPEATED_CALL = `${KEY}ask() {
${curl(OPERATIONS.changeEmail, 'KEY')}
}

# The same key and the same body each time, until an answer arrives.
until ask; do sleep 2; done`

const Idempotency = () => (
  <Chapter id="idempotency" title={CHAPTERS.idempotency}>
    <p>
      When an answer was lost, send the same <Code>POST</Code> again with the same <Code>Idempotency-Key</Code> (any
      text of your choice, such as a UUID). Within 24 hours the first answer comes back and nothing happens twice. Once
      an answer is kept, the same key with another body is refused with <Code>REQUEST_006</Code>. A wrong code (
      <Code>EMAIL_003</Code>) and a wrong password (<Code>EMAIL_007</Code>) are kept too and count once: take a new key
      for the corrected call. No other refusal is kept.
    </p>
    <div data-operation="repeated" data-language="curl">
      <CodeBlock title="curl" label="the repeated call" code={REPEATED_CALL} />
    </div>
  </Chapter>
)

/** The way through several pages. docs/adopting.md has its commands. */
const Deleting = () => (
  <Chapter id="deleting" title={CHAPTERS.deleting}>
    <ol className="list-decimal space-y-2 ps-5 text-ink-muted">
      <li>
        The operator creates a{' '}
        <a href="#authentication" className={textLink}>
          service token
        </a>{' '}
        with the scope <Code>withdrawals:start</Code>; with <Code>users:write</Code> too, where you create accounts.
      </li>
      <li>
        If the account is not here yet, <To operation="putUser" /> with your own id of the person.
      </li>
      <li>
        <To operation="withdrawUser" /> with an <Code>Idempotency-Key</Code>. Keep the <Code>status_token</Code> of the
        answer. <Code>WITHDRAWAL_003</Code> names what holds the withdrawal back.
        <div className="pt-2">
          <CodeBlock title="curl" label="the withdrawal" code={KEY + sampleOf(OPERATIONS.withdrawUser, 'curl')} />
        </div>
      </li>
      <li>
        <To operation="getWithdrawalStatus" /> with that token, or have a connected application{' '}
        <a href={`${pathOf(WEBHOOKS.id)}#account.withdrawal_completed`} className={textLink}>
          hear of its end
        </a>
        .
      </li>
      <li>
        <To operation="listReceipts" /> with the same token, and keep them: they are signed.
      </li>
    </ol>
  </Chapter>
)

const To = ({ operation }: { operation: OperationName }) => (
  <a href={`${pathOf(tagOf(OPERATIONS[operation]).toLowerCase())}#${operation}`} className={textLink}>
    {OPERATIONS[operation].summary}
  </a>
)

const AllOperations = () => (
  <Chapter id="operations" title={CHAPTERS.operations}>
    {OPERATION_GROUPS.map((group) => (
      <Group key={group.id} {...group}>
        {group.operations.map(({ name, method, summary, path }) => (
          <Line key={name} group={group.id} id={name} mark={method} title={summary} code={`/api/v1${path}`} />
        ))}
      </Group>
    ))}
    <Group {...WEBHOOKS}>
      {webhooks.map(({ name, summary }) => (
        <Line key={name} group={WEBHOOKS.id} id={name} mark="EVENT" title={summary} code={name} />
      ))}
    </Group>
  </Chapter>
)

const Group = ({ id, name, children }: { id: string; name: string; children: ReactNode }) => (
  <div id={id} className="scroll-mt-16">
    <h3 className="font-semibold">{name}</h3>
    <ul>{children}</ul>
  </div>
)

const Line = ({ group, id, mark, title, code }: Record<'group' | 'id' | 'mark' | 'title' | 'code', string>) => (
  <li>
    <a href={`${pathOf(group)}#${id}`} className="flex items-baseline gap-3 py-1.5 text-ink-muted hover:text-ink">
      <span className="w-14 shrink-0 font-mono text-xs">{mark}</span>
      <span className="wrap-anywhere">
        {title} <Code>{code}</Code>
      </span>
    </a>
  </li>
)
