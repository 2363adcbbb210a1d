import { CodeBlock } from '@/components/docs/code-block'
import { Described } from '@/components/docs/reference-rows'
import { Badge } from '@/components/ui/badge'
import type { Webhook } from '@/contract/webhooks'
import { Part } from './operation'
import { SchemaRows } from './schema-rows'

/** What a connected application receives. */
export const Message = ({ webhook: { name, summary, description, message, examples } }: { webhook: Webhook }) => (
  <section id={name} aria-labelledby={`${name}-title`} className="scroll-mt-16 border-line border-t pt-10">
    <h2 id={`${name}-title`} className="font-semibold text-xl leading-7 tracking-[-0.02em]">
      {summary}
    </h2>
    <p className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-2">
      <Badge className="font-mono">EVENT</Badge>
      <code className="wrap-anywhere font-mono text-[0.8125rem]">{name}</code>
    </p>
    <p className="mt-3">
      <Described text={description} />
    </p>
    <Part title="Body">
      <SchemaRows schema={message} io="output" of={`${name}.body`} />
      {Object.entries(examples).map(([key, { summary: title, value }]) => (
        <CodeBlock key={key} title={title} label={`${title}, of ${summary}`} code={JSON.stringify(value, null, 2)} />
      ))}
    </Part>
  </section>
)
