import { CodeBlock } from '@/components/docs/code-block'
import type { ReceiverLanguage } from './receiver-samples'
import type { Language } from './samples'

/** The reader chooses the language once for the page. The choice works without a script. */
const SHOWN_WITH: Record<Language | ReceiverLanguage, string> = {
  curl: 'hidden group-has-[#language-curl:checked]/docs:block',
  typescript: 'hidden group-has-[#language-typescript:checked]/docs:block',
  node: 'hidden group-has-[#language-node:checked]/docs:block',
  python: 'hidden group-has-[#language-python:checked]/docs:block',
}

interface SampleBlocksProps<Name extends keyof typeof SHOWN_WITH> {
  /** By which a test finds them. */
  operation: string
  /** Names the copied text for screen readers. */
  label: string
  languages: Readonly<Record<Name, string>>
  sampleIn(language: Name): string
}

/** One sample in each language, of which the chosen one is shown. */
export const SampleBlocks = <Name extends keyof typeof SHOWN_WITH>({
  operation,
  label,
  languages,
  sampleIn,
}: SampleBlocksProps<Name>) =>
  (Object.entries(languages) as [Name, string][]).map(([language, title]) => (
    <div key={language} className={SHOWN_WITH[language]} data-operation={operation} data-language={language}>
      <CodeBlock title={title} label={`${label} in ${title}`} code={sampleIn(language)} />
    </div>
  ))
