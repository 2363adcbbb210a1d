import Link from 'next/link'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import { textLink } from '../ui/text-link'
import { FactGrid } from './fact-grid'

interface OpenAccount {
  userId: string
  withdrawalId: null
  externalId: string | null
  name: string
  email: string
  isVerified: boolean
  hasPassword: boolean
  role: string | null
  locale: string | null
  createdAt: Date
  sessions: number
  pendingChange: { new_email: string | null; expires_at: string | null; attempts_remaining: number | null }
}

interface AccountDetailProps {
  account: OpenAccount | { userId: string; withdrawalId: string }
  /** A higher count is shown as “more than this”. */
  maxSessions: number
}

export const AccountDetail = ({ account, maxSessions }: AccountDetailProps) =>
  account.withdrawalId === null ? (
    <Open account={account} maxSessions={maxSessions} />
  ) : (
    <Card>
      <CardHeader title={account.userId} aside={<Badge>Withdrawn</Badge>} />
      <CardBody>
        <p>
          This person has deleted the account:{' '}
          <Link href={`/admin/withdrawals/${account.withdrawalId}`} className={textLink}>
            {account.withdrawalId}
          </Link>
        </p>
      </CardBody>
    </Card>
  )

function Open({ account, maxSessions }: { account: OpenAccount; maxSessions: number }) {
  const { userId, pendingChange, sessions } = account
  return (
    <Card>
      <CardHeader title={account.name} description={userId} />
      <CardBody>
        <FactGrid
          facts={{
            State: <Badge tone="success">Active</Badge>,
            Address: `${account.email}${account.isVerified ? '' : ' (not verified)'}`,
            'Pending change':
              pendingChange.new_email && pendingChange.expires_at ? (
                <>
                  To {pendingChange.new_email}, until <LocalTime dateTime={pendingChange.expires_at} />
                </>
              ) : (
                'None'
              ),
            'Open sessions': sessions > maxSessions ? `More than ${maxSessions}` : String(sessions),
            Password: account.hasPassword ? 'Yes' : 'None: signs in elsewhere',
            'External id': account.externalId,
            Language: account.locale,
            Role: account.role,
            Created: <LocalTime dateTime={account.createdAt.toISOString()} />,
          }}
        />
      </CardBody>
    </Card>
  )
}
