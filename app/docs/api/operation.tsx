import { z } from 'zod'
import { CodeBlock } from '@/components/docs/code-block'
import { Code, Described, type Row, Rows } from '@/components/docs/rows'
import { Badge } from '@/components/ui/badge'
import type { Contract } from '@/contract/define'
import { curlExample } from './curl'
import { ErrorRows } from './error-rows'

interface JsonField {
  type?: string
  description?: string
  properties?: Record<string, JsonField>
  required?: string[]
  enum?: string[]
  default?: string
  pattern?: string
  minLength?: number
  maxLength?: number
}

const methodTone = { GET: 'accent', POST: 'success', PUT: 'warning', DELETE: 'danger' } as const

export function Operation({ contract }: { contract: Contract }) {
  const { name, summary, method, path, scope, message, body } = contract
  return (
    <section aria-labelledby={name} className="border-line border-t pt-10">
      <h2 id={name} className="scroll-mt-6 font-semibold text-xl leading-7 tracking-[-0.02em]">
        {summary}
      </h2>
      <p className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-2">
        <Badge tone={methodTone[method]} className="font-mono">
          {method}
        </Badge>
        <code className="wrap-anywhere font-mono text-[0.8125rem]">/api/v1{path}</code>
      </p>
      <p className="mt-3 text-ink-muted">
        Scope header <Code>X-Required-Scope: {scope}</Code>
        {message && <>. Answers “{message}”</>}
      </p>

      {body && (
        <>
          <h3 className="mt-8 mb-3 font-semibold">Fields</h3>
          <Rows rows={fieldRows(z.toJSONSchema(body, { io: 'input' }) as JsonField)} />
        </>
      )}

      <h3 className="mt-8 mb-3 font-semibold">Example</h3>
      <div className="space-y-3">
        <CodeBlock title="Request" label={`the request of ${summary}`} code={curlExample(contract)} />
        <CodeBlock
          title={`Answer ${contract.status ?? 200}`}
          label={`the answer of ${summary}`}
          code={JSON.stringify(exampleAnswer(contract), null, 2)}
        />
      </div>

      <h3 className="mt-8 mb-3 font-semibold">Errors</h3>
      <ErrorRows codes={[...new Set([...contract.errors, contract.forbidden])]} />
    </section>
  )
}

function exampleAnswer({ example, message, timestamp }: Contract) {
  return {
    success: true,
    data: example.data,
    ...(message && { message }),
    ...(timestamp !== false && { timestamp: '2026-11-20T09:00:00.000Z' }),
  }
}

function fieldRows(schema: JsonField, prefix = ''): Row[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([name, field]) => [
    {
      key: prefix + name,
      name: prefix + name,
      note: `${field.type ?? 'string'}, ${required.includes(name) ? 'required' : 'optional'}`,
      text: (
        <Described
          text={[field.description, ...rulesOf(field)].filter(Boolean).join('. ').concat('.').replace('..', '.')}
        />
      ),
    },
    ...fieldRows(field, `${prefix}${name}.`),
  ])
}

/** A longer pattern is for machines, which read it in the OpenAPI document. */
const MAX_SHOWN_PATTERN = 40

/** The rules that the description does not name already. */
function rulesOf({
  description = '',
  enum: choices,
  default: preset,
  pattern,
  minLength,
  maxLength,
}: JsonField): string[] {
  const rules: string[] = []
  if (choices) rules.push(`One of ${choices.map((choice) => `\`${choice}\``).join(', ')}`)
  if (preset !== undefined) rules.push(`Default \`${preset}\``)
  if (pattern && pattern.length <= MAX_SHOWN_PATTERN) rules.push(`Pattern \`${pattern}\``)
  if (maxLength !== undefined && !description.includes(String(maxLength)))
    rules.push(minLength === undefined ? `At most ${maxLength} characters` : `${minLength} to ${maxLength} characters`)
  return rules
}
