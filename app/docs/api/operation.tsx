import { CodeBlock } from '@/components/docs/code-block'
import { Code, Described, ReferenceRows } from '@/components/docs/reference-rows'
import { Badge } from '@/components/ui/badge'
import { Disclosure } from '@/components/ui/disclosure'
import { textLink } from '@/components/ui/text-link'
import { type Contract, isAdminContract, isLinkContract, isTaskContract } from '@/contract/define'
import { refusesRoles } from '@/contract/openapi'
import { FoldedErrors } from './error-rows'
import { limitOf } from './limit-text'
import { OVERVIEW } from './reference'
import { Section } from './reference-page'
import { SampleBlocks } from './sample-blocks'
import { hasExample, isForBrowsers, LANGUAGES, sampleOf, VARIABLES, variablesOf } from './samples'
import { SchemaRows } from './schema-rows'

const METHOD_TONES = { GET: 'accent', POST: 'success', PUT: 'warning', DELETE: 'danger' } as const

export function Operation({ contract }: { contract: Contract }) {
  const { name, summary, description, method, path, params, body, query } = contract
  const limit = limitOf(contract)
  const inputs = [
    { title: 'Path', anchor: 'path', schema: Object.keys(params.shape).length > 0 ? params : undefined },
    { title: 'Query', anchor: 'query', schema: query },
    { title: 'Body', anchor: 'body', schema: body },
  ]
  return (
    <Section id={name} title={summary}>
      <p className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-2">
        <Badge tone={METHOD_TONES[method]} className="font-mono">
          {method}
        </Badge>
        <code className="wrap-anywhere font-mono text-[0.8125rem]">/api/v1{path}</code>
      </p>
      <p className="mt-3">
        <Described text={description} />
      </p>
      <p className="mt-2 text-ink-muted">
        <Opener contract={contract} />
        {refusesRoles(contract) && (
          <>
            {' '}
            An account that has a{' '}
            <a href={`${OVERVIEW}#roles`} className={textLink}>
              role
            </a>{' '}
            is refused.
          </>
        )}
        {limit && (
          <>
            {' '}
            <a href={`${OVERVIEW}#limits`} className={textLink}>
              Limit
            </a>
            : {limit}.
          </>
        )}
      </p>

      {inputs.map(
        ({ title, anchor, schema }) =>
          schema && (
            <Part key={anchor} title={title}>
              <SchemaRows schema={schema} io="input" of={`${name}.${anchor}`} />
            </Part>
          ),
      )}

      <Part title={hasExample(contract) ? 'Example' : 'Who calls it'}>
        <Examples contract={contract} />
      </Part>

      {contract.file ? (
        <Part title={`Response ${contract.status ?? 200}`}>
          <p className="text-ink-muted">
            The file itself, <Code>{contract.file}</Code>.
          </p>
        </Part>
      ) : (
        <Part title={`Response ${contract.status ?? 200}${contract.isCreated ? ' or 201' : ''}`}>
          <Disclosure summary="Fields of data">
            <SchemaRows schema={contract.data} io="output" of={`${name}.data`} />
          </Disclosure>
          <CodeBlock
            title="Example"
            label={`the response of ${summary}`}
            code={JSON.stringify(exampleAnswer(contract), null, 2)}
          />
        </Part>
      )}

      <Part title="Errors">
        <FoldedErrors contract={contract} />
      </Part>
    </Section>
  )
}

function Opener({ contract }: { contract: Contract }) {
  const { scope } = contract
  if (isTaskContract(contract)) return 'It needs the token of the task, and no scope header.'
  if (contract.rawBody) return 'It needs no token of this service and no scope header: the source proves who it is.'
  if (isLinkContract(contract)) {
    return contract.bearer === 'none'
      ? 'It needs no token and no scope header.'
      : 'It needs the token of the mailed link, and no scope header.'
  }
  const opener = isAdminContract(contract)
    ? 'a service token'
    : isForBrowsers(contract)
      ? 'a browser session'
      : 'a token'
  return (
    <>
      It needs {opener} with the scope <Code>{scope}</Code>. Send{' '}
      <Code>
        <span className="whitespace-nowrap">X-Required-Scope:</span> {scope}
      </Code>
      .
    </>
  )
}

function Examples({ contract }: { contract: Contract }) {
  if (contract.rawBody) {
    return <p className="text-ink-muted">A mail provider, or your own mail server, makes this call.</p>
  }
  if (isForBrowsers(contract)) {
    return (
      <p className="text-ink-muted">
        Only the pages call this, in the session of a signed-in browser: no access token can make this call.
      </p>
    )
  }
  return (
    <>
      <ReferenceRows
        rows={variablesOf(contract).map((variable) => ({
          key: variable,
          name: variable,
          text: <Described text={`${VARIABLES[variable]}.`} />,
        }))}
      />
      <SampleBlocks
        operation={contract.name}
        label={`the request of ${contract.summary}`}
        languages={LANGUAGES}
        sampleIn={(language) => sampleOf(contract, language)}
      />
    </>
  )
}

export const Part = ({ title, children }: { title: string; children: React.ReactNode }) => (
  <div className="mt-8 space-y-3">
    <h3 className="font-semibold">{title}</h3>
    {children}
  </div>
)

export function exampleAnswer({ example, message, timestamp }: Contract) {
  return {
    success: true,
    data: example.data,
    ...(message && { message }),
    ...(timestamp !== false && { timestamp: '2026-11-20T09:00:00.000Z' }),
  }
}
