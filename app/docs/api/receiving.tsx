import { CodeBlock } from '@/components/docs/code-block'
import { Code, Described, ReferenceRows } from '@/components/docs/reference-rows'
import { SampleLanguage } from '@/components/docs/sample-language'
import { formatDuration } from '@/components/ui/duration'
import { textLink } from '@/components/ui/text-link'
import type { OperationName } from '@/contract/operations'
import { CALL_BACK_OFF, CHECK_MS, EVENT_RETRY_MS, MAX_CALL_MS, second } from '@/domain/limits/durations'
import { systemContext } from '@/server/system-context'
import { RECEIVER_LANGUAGES, RECEIVER_SAMPLES, RECEIVER_VARIABLES } from './receiver-samples'
import { pathOf, WEBHOOK_CHAPTERS } from './reference'
import { Chapter } from './reference-page'
import { SampleBlocks } from './sample-blocks'

const operationLink = (group: string, name: OperationName, text: string) => (
  <a href={`${pathOf(group)}#${name}`} className={textLink}>
    {text}
  </a>
)

export const Registering = () => (
  <Chapter id="registering" title={WEBHOOK_CHAPTERS.registering}>
    <p>Four steps lead from nothing to the first deletion task:</p>
    <ol className="list-decimal space-y-2 ps-5 text-ink-muted">
      <li>
        An operator registers it. This prints its id and its signing secret, which is shown this once. For a trial the
        endpoint may be <Code>http://127.0.0.1:4711/</Code>, where a receiver from below listens:
        <div className="pt-2">
          <CodeBlock
            title="Operator command"
            label="the command that registers an application"
            code="npm run -s account -- app register --name Shop --endpoint https://shop.example.com/account-messages"
          />
        </div>
      </li>
      <li>
        {operationLink('applications', 'putConnection', 'Connect')} each person to it, by the id under which it knows
        them. With <Code>--audience everyone</Code> in the command it is told about all people, and none is connected.
      </li>
      <li>
        <a href="#verifying" className={textLink}>
          Verify the signature
        </a>{' '}
        of each message.
      </li>
      <li>
        On{' '}
        <a href="#account.withdrawn" className={textLink}>
          <Code>account.withdrawn</Code>
        </a>
        , delete the person and answer 200.
      </li>
    </ol>
    <p>
      Without an endpoint nothing is sent: the application{' '}
      {operationLink('tasks', 'takeTasks', 'takes its deletion tasks')} itself, with a service token of its own, and{' '}
      {operationLink('tasks', 'reportOnTask', 'reports')} each.
    </p>
    <CodeBlock
      title="Operator command"
      label="the commands for an application without an endpoint"
      code={[
        'npm run -s account -- app register --name Loyalty --poll',
        'export SERVICE_TOKEN=$(npm run -s account -- service-token create --name loyalty \\',
        '  --scope tasks:work --app Loyalty --only service_token)',
      ].join('\n')}
    />
  </Chapter>
)

/** How an application ends the task that comes with `account.withdrawn`. */
export const EndOfTask = () => (
  <p className="mt-3">
    Answer 2xx, 404 or 410 once the person is deleted. An application with <Code>acknowledges: later</Code> may answer
    202 first, and then {operationLink('tasks', 'reportOnTask', 'report')} when it is done. Until then the message comes{' '}
    <a href="#attempts" className={textLink}>
      again
    </a>
    .
  </p>
)

export const Receiving = () => (
  <Chapter id="receiving" title={WEBHOOK_CHAPTERS.receiving}>
    <p>
      The service sends these to connected applications by <Code>POST</Code>, signed as{' '}
      <a href="https://www.standardwebhooks.com" className={textLink}>
        Standard Webhooks
      </a>{' '}
      say.{' '}
      <a href="#verifying" className={textLink}>
        Verify the signature
      </a>{' '}
      before you read the body.
    </p>
    <p>
      Any 2xx, 404 and 410 end a message; for a message with a task, 202 accepts it and a report ends it. Everything
      else has it sent again with the same <Code>webhook-id</Code>, so handling it twice must change nothing.
    </p>
  </Chapter>
)

const inWords = (ms: number) => formatDuration(ms / second, 'en')

/** When a message comes again, how long its answer may take, and when nobody sends it any more. */
export function Attempts() {
  const { firstMs, maxMs } = CALL_BACK_OFF
  const rows = {
    'Next attempt': `It comes ${inWords(firstMs)} after the first that failed; each wait is about twice the one before, and ${inWords(maxMs)} at most. A \`Retry-After\` of your answer replaces the wait, within the same bounds.`,
    'Time for an answer': `You have ${inWords(MAX_CALL_MS)}, for an event and for a deletion task alike, and ${inWords(CHECK_MS)} for a question before a withdrawal.`,
    'Given up': `An event is given up ${inWords(EVENT_RETRY_MS)} after it happened; the operator can have it sent again for as long. A deletion task never is: it waits for your answer or report, or until the operator waives it. An application that is told about everyone is not called any more after ${inWords(systemContext().limits.withdrawalRetentionMs)}, though its task stays open.`,
  }
  return (
    <Chapter id="attempts" title={WEBHOOK_CHAPTERS.attempts}>
      <ReferenceRows
        rows={Object.entries(rows).map(([name, text]) => ({ key: name, name, text: <Described text={text} /> }))}
      />
    </Chapter>
  )
}

const RULES = {
  Key: 'What follows `whsec_` in the signing secret, decoded from base64.',
  'Signed text':
    '`webhook-id`, `webhook-timestamp` and the body, with a dot between: `msg_1.1795000000.{"type":…}`. Take the bytes of the body as they came.',
  Signature: '`v1,` and the HMAC-SHA256 of that text in base64. Compare it in constant time.',
  Time: '`webhook-timestamp` counts seconds since 1970. Refuse what is more than five minutes away from your clock, in either direction.',
  Rotation:
    'While two secrets are valid, `webhook-signature` has a signature by each, with a space between. Accept the message if any of them fits any of your secrets.',
}

export const Verifying = () => (
  <Chapter id="verifying" title={WEBHOOK_CHAPTERS.verifying}>
    <p>
      These receivers answer 401 to whatever the service has not signed. The one in TypeScript takes{' '}
      <Code>createReceiver</Code> of the typed client, which also handles each message once, and those of an account in
      their order. The others need the standard library alone, and do nothing but verify and print.
    </p>
    <ReferenceRows
      rows={Object.entries(RULES).map(([name, text]) => ({ key: name, name, text: <Described text={text} /> }))}
    />
    <p>
      After{' '}
      <a href={`${pathOf('applications')}#rotateAppSecret`} className={textLink}>
        Rotate Signing Secret
      </a>{' '}
      both secrets sign for a day.
    </p>
    <SampleLanguage languages={RECEIVER_LANGUAGES} />
    <ReferenceRows
      rows={Object.entries(RECEIVER_VARIABLES).map(([name, text]) => ({
        key: name,
        name,
        text: <Described text={text} />,
      }))}
    />
    <SampleBlocks
      operation="receive"
      label="the receiver"
      languages={RECEIVER_LANGUAGES}
      sampleIn={(language) => RECEIVER_SAMPLES[language]}
    />
    <p>
      The source of this service has whole receivers as packages: <Code>examples/receivers/python</Code> and{' '}
      <Code>examples/receivers/go</Code>. There <Code>npm run pack:client</Code> makes the typed client, and{' '}
      <Code>npm run -s account -- app check Shop</Code> sends your receiver signed, forged and late messages and says
      what to mend.
    </p>
  </Chapter>
)
