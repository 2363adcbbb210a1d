import { CodeBlock } from '@/components/docs/code-block'
import { Described } from '@/components/docs/reference-rows'
import { Badge } from '@/components/ui/badge'
import type { Webhook } from '@/contract/webhooks'
import { Part } from './operation'
import { EndOfTask } from './receiving'
import { Section } from './reference-page'
import { SchemaRows } from './schema-rows'

/** A message that a connected application receives. */
export const Message = ({ webhook: { name, summary, description, message, examples } }: { webhook: Webhook }) => (
  <Section id={name} title={summary}>
    <p className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-2">
      <Badge className="font-mono">EVENT</Badge>
      <code className="wrap-anywhere font-mono text-[0.8125rem]">{name}</code>
    </p>
    <p className="mt-3">
      <Described text={description} />
    </p>
    {name === 'account.withdrawn' && <EndOfTask />}
    <Part title="Body">
      <SchemaRows schema={message} io="output" of={`${name}.body`} />
      {Object.entries(examples).map(([key, { summary: title, value }]) => (
        <CodeBlock key={key} title={title} label={`${title}, of ${summary}`} code={JSON.stringify(value, null, 2)} />
      ))}
    </Part>
  </Section>
)
