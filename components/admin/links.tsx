import Link from 'next/link'
import { cn } from '../ui/class-names'
import { textLink } from '../ui/text-link'

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
