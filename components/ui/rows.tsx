import type { ReactNode } from 'react'

/** Terms and what is said of each: side by side, on a phone one below the other. */
export function Rows({ rows }: { rows: readonly (readonly [term: string, text: ReactNode])[] }) {
  return (
    <dl className="divide-y divide-line sm:grid sm:grid-cols-[fit-content(50%)_1fr]">
      {rows.map(([term, text]) => (
        <div key={term} className="gap-x-8 py-3 first:pt-0 last:pb-0 sm:col-span-2 sm:grid sm:grid-cols-subgrid">
          <dt className="min-w-32 font-medium">{term}</dt>
          <dd className="wrap-anywhere text-ink-muted">{text}</dd>
        </div>
      ))}
    </dl>
  )
}
