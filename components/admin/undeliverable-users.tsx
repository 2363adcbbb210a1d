import Link from 'next/link'
import { Card, CardBody, CardHeader } from '../ui/card'
import { RelativeTime } from '../ui/relative-time'
import { textLink } from '../ui/text-link'

interface UndeliverableUsersProps {
  users: readonly { user_id: string; since: string }[]
  next: string | null
}

export const UndeliverableUsers = ({ users, next }: UndeliverableUsersProps) => (
  <Card>
    <CardHeader
      title="Addresses that take no mail"
      description={`Tell these people by another way; the person proves an address, or you set one.${next === null ? '' : ' There are more; the command user list --undeliverable prints all.'}`}
    />
    <CardBody>
      <ul className="space-y-1.5">
        {users.map(({ user_id, since }) => (
          <li key={user_id} className="flex flex-wrap items-baseline justify-between gap-x-4">
            <Link href={`/admin/users/${user_id}`} className={`${textLink} wrap-anywhere font-mono text-sm`}>
              {user_id}
            </Link>
            <span className="text-ink-muted text-sm tabular-nums">
              since <RelativeTime dateTime={since} />
            </span>
          </li>
        ))}
      </ul>
    </CardBody>
  </Card>
)
