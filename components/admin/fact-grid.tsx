import type { ReactNode } from 'react'

/** A grid of facts. It leaves out a fact whose value is null. */
export const FactGrid = ({ facts }: { facts: Record<string, ReactNode> }) => (
  <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-[14rem_1fr] sm:gap-y-2">
    {Object.entries(facts).map(
      ([label, value]) =>
        value !== null && (
          <div key={label} className="sm:contents">
            <dt className="text-ink-muted">{label}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ),
    )}
  </dl>
)
