import type { ReactNode } from 'react'

interface PageHeadingProps {
  title: ReactNode
  description?: ReactNode
  /** Stands beside the title. */
  aside?: ReactNode
}

export function PageHeading({ title, description, aside }: PageHeadingProps) {
  return (
    <div className="mb-7 space-y-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="wrap-anywhere min-w-0 text-balance outline-none font-semibold text-[1.75rem] leading-9 tracking-[-0.028em]">
          {title}
        </h1>
        {aside}
      </div>
      {description && <p className="wrap-anywhere max-w-prose text-ink-muted">{description}</p>}
    </div>
  )
}
