import type { ReactNode } from 'react'

export interface ReferenceRow {
  key: string
  /** Its anchor. */
  id?: string | undefined
  name: string
  note?: string | number
  text: ReactNode
}

/** A two-column table that becomes one column on a phone. */
export function ReferenceRows({ rows }: { rows: readonly ReferenceRow[] }) {
  return (
    <dl className="divide-y divide-line border-line border-y">
      {rows.map(({ key, id, name, note, text }) => (
        <div
          key={key}
          id={id}
          className="grid scroll-mt-16 target:bg-accent-soft target:outline-4 target:outline-accent-soft gap-x-6 gap-y-1 py-3 sm:grid-cols-[13rem_minmax(0,1fr)]"
        >
          <dt className="wrap-anywhere">
            <span className="font-medium font-mono text-[0.8125rem]">{withBreaks(name)}</span>
            {note && <span className="block text-ink-muted text-sm">{note}</span>}
          </dt>
          <dd className="min-w-0 text-ink-muted [&_strong]:font-medium [&_strong]:text-ink">{text}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A long name breaks before a part of it, and not inside a word. */
const withBreaks = (name: string) =>
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name never move.
  name.split(/(?<=[._])/).map((part, index) => [<wbr key={index} />, part])

/** A description of the contract, whose `code` is set as code. */
export function Described({ text }: { text: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: a word may stand twice in a description, whose parts never move.
  return text.split('`').map((part, index) => (index % 2 ? <Code key={index}>{part}</Code> : part))
}

export function Code({ children }: { children: ReactNode }) {
  return <code className="wrap-anywhere rounded bg-sunken px-1.5 py-0.5 font-mono text-[0.8125rem]">{children}</code>
}
