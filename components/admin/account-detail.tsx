import { formatAmount } from '@/contract/amount'
import type { ShownAccount } from '@/contract/operator'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import { FactGrid } from './fact-grid'
import { WithdrawalLink } from './links'
import { Row } from './section'

interface AccountDetailProps {
  account: ShownAccount | { user_id: string; withdrawal_id: string }
  /** A higher count is shown as “more than this”. */
  maxSessions: number
}

export const AccountDetail = ({ account, maxSessions }: AccountDetailProps) =>
  'email' in account ? (
    <div className="space-y-6">
      <Facts account={account} maxSessions={maxSessions} />
      <HoldsBack account={account} />
    </div>
  ) : (
    <Card>
      <CardHeader title={account.user_id} aside={<Badge>Withdrawn</Badge>} />
      <CardBody>
        <p>
          This person has deleted the account: <WithdrawalLink id={account.withdrawal_id} />
        </p>
      </CardBody>
    </Card>
  )

function Facts({ account, maxSessions }: { account: ShownAccount; maxSessions: number }) {
  const { pending_change, old_mailbox_lost_at: lostAt, open_sessions } = account
  return (
    <Card>
      <CardHeader title={account.name} description={account.user_id} />
      <CardBody>
        <FactGrid
          facts={{
            State: <Badge tone="success">Active</Badge>,
            Address: `${account.email}${account.email_verified ? '' : ' (not verified)'}${account.email_undeliverable ? ' (mail comes back)' : ''}`,
            'Old mailbox lost': lostAt && <LocalTime dateTime={lostAt} />,
            'Pending change':
              pending_change.new_email && pending_change.expires_at ? (
                <>
                  To {pending_change.new_email}, until <LocalTime dateTime={pending_change.expires_at} />
                </>
              ) : (
                'None'
              ),
            'Open sessions': open_sessions > maxSessions ? `More than ${maxSessions}` : String(open_sessions),
            Password: account.has_password ? 'Yes' : 'None: signs in elsewhere',
            'External id': account.external_id,
            Language: account.locale,
            Role: account.role,
            Created: <LocalTime dateTime={account.created_at} />,
          }}
        />
      </CardBody>
    </Card>
  )
}

function HoldsBack({ account: { blockers, pending_transactions } }: { account: ShownAccount }) {
  return (
    <Card>
      <CardHeader
        title="Holds a deletion back"
        description={
          pending_transactions.length > 0 &&
          'The operator command ends a pending transaction: transaction settle or transaction cancel with its id.'
        }
      />
      <CardBody>
        {blockers.length === 0 ? (
          <p className="text-ink-muted">Nothing that this service knows of.</p>
        ) : (
          <ul className="divide-y divide-line">
            {pending_transactions.map(({ transaction_id, title, amount, created_at }) => (
              <Row key={transaction_id} title={amount ? `${title}, ${formatAmount(amount, 'en')}` : title}>
                Pending transaction <span className="font-mono text-xs">{transaction_id}</span>, since{' '}
                <LocalTime dateTime={created_at} />
              </Row>
            ))}
            {blockers
              .filter(({ ids }) => !ids)
              .map(({ source, code, title, url }) => (
                <Row key={`${source} ${code} ${title}`} title={title}>
                  {code}, of {source}
                  {url && `, settled at ${url}`}
                </Row>
              ))}
          </ul>
        )}
      </CardBody>
    </Card>
  )
}
