import type { ReactNode } from 'react'

/** One pair of a `<dl>` whose pairs stand side by side. */
export const Fact = ({ label, className, children }: { label: string; className?: string; children: ReactNode }) => (
  <div className="flex gap-1.5">
    <dt className="text-ink-muted">{label}</dt>
    <dd className={className}>{children}</dd>
  </div>
)
