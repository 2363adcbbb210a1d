import Link from 'next/link'

interface TabsProps {
  label: string
  /** The name of each path. */
  tabs: Record<string, string>
  current: string | undefined
  className?: string
}

/** Links to pages that stand side by side; the current one is marked. */
export const Tabs = ({ label, tabs, current, className }: TabsProps) => (
  <nav aria-label={label} className={className}>
    <ul className="flex flex-wrap gap-x-6 max-sm:gap-x-4 max-[22rem]:gap-x-3">
      {Object.entries(tabs).map(([href, name]) => (
        <li key={href}>
          <Link
            href={href}
            aria-current={href === current ? 'page' : undefined}
            className="flex h-11 items-center border-transparent border-b-2 text-ink-muted max-sm:text-sm hover:text-ink aria-[current]:border-accent aria-[current]:font-medium aria-[current]:text-ink forced-colors:border-[Canvas]"
          >
            {name}
          </Link>
        </li>
      ))}
    </ul>
  </nav>
)
