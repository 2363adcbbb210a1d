import Link from 'next/link'
import { cn } from '../ui/class-names'
import { textLink } from '../ui/text-link'

/** The class of a navigation link. It marks the link to the page itself. */
export const navLink =
  'flex items-center rounded-lg text-ink-muted hover:bg-sunken hover:text-ink aria-[current]:bg-sunken aria-[current]:font-medium aria-[current]:text-ink'

export const AppLink = ({ id, name }: { id: string; name: string }) => (
  <Link href={`/admin/apps/${id}`} className={textLink}>
    {name}
  </Link>
)

export const WithdrawalLink = ({ id }: { id: string }) => (
  <Link href={`/admin/withdrawals/${encodeURIComponent(id)}`} className={cn(textLink, 'font-mono text-sm')}>
    {id}
  </Link>
)
