import type { ReactNode } from 'react'

/** Terms and what is said of each: side by side, on a phone and with large text one below the other. */
export function Rows({ rows }: { rows: readonly (readonly [term: string, text: ReactNode])[] }) {
  return (
    <dl className="@container divide-y divide-line">
      {rows.map(([term, text]) => (
        <div key={term} className="gap-x-6 py-3 first:pt-0 last:pb-0 @lg:grid @lg:grid-cols-[14rem_minmax(0,1fr)]">
          <dt className="wrap-anywhere font-medium">{term}</dt>
          <dd className="wrap-anywhere text-ink-muted">{text}</dd>
        </div>
      ))}
    </dl>
  )
}
