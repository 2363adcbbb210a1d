import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { SampleLanguage } from '@/components/docs/sample-language'
import { textLink } from '@/components/ui/text-link'
import { ERRORS, type ErrorCode } from '@/contract/errors'
import { webhooks } from '@/contract/webhooks'
import { ErrorRows } from '../error-rows'
import { Message } from '../message'
import { Operation } from '../operation'
import { Attempts, Receiving, Registering, Verifying } from '../receiving'
import { ALL_ERRORS, COMMON_CODES, codesOf, OPERATION_GROUPS, OVERVIEW, pathOf, WEBHOOKS } from '../reference'
import { Chapter, ReferencePage } from '../reference-page'
import { hasExample, LANGUAGES } from '../samples'

interface Props {
  params: Promise<{ group: string }>
}

const groupOf = (id: string) => [...OPERATION_GROUPS, WEBHOOKS, ALL_ERRORS].find((group) => group.id === id)

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { name = 'No such page' } = groupOf((await params).group) ?? {}
  return { title: `${name}, API documentation` }
}

export default async function GroupPage({ params }: Props) {
  const group = groupOf((await params).group)
  if (!group) notFound()
  const { id, name, description } = group
  return (
    <ReferencePage path={pathOf(id)} title={name} description={`${description}.`}>
      {'operations' in group ? (
        <>
          {group.operations.some(hasExample) && <SampleLanguage languages={LANGUAGES} />}
          <p className="text-ink-muted">
            {group.operations.some(hasExample) && (
              <>
                The examples need{' '}
                <a href={`${OVERVIEW}#examples`} className={textLink}>
                  the settings
                </a>
                , in TypeScript the typed client that stands there too, and the variables that each of them names.{' '}
              </>
            )}
            What holds for every operation, and the errors that any of them can answer with, are in the{' '}
            <a href={OVERVIEW} className={textLink}>
              overview
            </a>
            .
          </p>
          {id === 'tasks' && (
            <p className="text-ink-muted">
              An application with an endpoint is sent each task as the message{' '}
              <a href={`${pathOf(WEBHOOKS.id)}#account.withdrawn`} className={textLink}>
                account.withdrawn
              </a>
              , and its answer ends the task. One without an endpoint takes its tasks here:{' '}
              <a href={`${pathOf(WEBHOOKS.id)}#registering`} className={textLink}>
                Register an application
              </a>{' '}
              has the commands. Either can accept a task first and report on it later.
            </p>
          )}
          {id === 'applications' && (
            <p className="text-ink-muted">
              The operator command registers an application:{' '}
              <a href={`${pathOf(WEBHOOKS.id)}#registering`} className={textLink}>
                Register an application
              </a>
              . What is sent to it stands under{' '}
              <a href={pathOf(WEBHOOKS.id)} className={textLink}>
                Webhooks
              </a>
              .
            </p>
          )}
          {group.operations.map((contract) => (
            <Operation key={contract.name} contract={contract} />
          ))}
        </>
      ) : group === ALL_ERRORS ? (
        <Chapter id="codes" title="All error codes">
          <p>
            Many operations can answer with those of AUTH, REQUEST, RATE and SERVER. Below each other code stand the
            operations that answer with it.
          </p>
          <ErrorRows
            codes={Object.keys(ERRORS) as ErrorCode[]}
            more={(code) => !COMMON_CODES.includes(code) && <AnsweredBy code={code} />}
          />
        </Chapter>
      ) : (
        <>
          <Registering />
          <Receiving />
          <Attempts />
          <Verifying />
          {webhooks.map((webhook) => (
            <Message key={webhook.name} webhook={webhook} />
          ))}
        </>
      )}
    </ReferencePage>
  )
}

const AnsweredBy = ({ code }: { code: ErrorCode }) => (
  <ul className="mt-1 flex flex-wrap gap-x-4">
    {OPERATION_GROUPS.flatMap(({ id, operations }) =>
      operations
        .filter((contract) => codesOf(contract).includes(code))
        .map(({ name, summary }) => (
          <li key={name}>
            <a href={`${pathOf(id)}#${name}`} className={textLink}>
              {summary}
            </a>
          </li>
        )),
    )}
  </ul>
)
