import { notFound } from 'next/navigation'
import { type Fields, idLink } from '@/components/admin/drawn'
import { Facts } from '@/components/admin/facts'
import { Part } from '@/components/admin/part'
import { Table } from '@/components/admin/table'
import { Badge } from '@/components/ui/badge'
import { LocalTime } from '@/components/ui/local-time'
import { formatAmount } from '@/contract/amount'
import { type ShownAccount, shownAccount, shownBlocker, shownTransaction } from '@/contract/operator'
import { noteLookUp } from '@/domain/accounts/note-look-up'
import { MAX_SESSIONS_COUNTED, watchAccount } from '@/domain/withdrawal/show-account'
import { AdminPage } from '../../admin-page'
import { operatorContext, titleForOperators } from '../../for-operators'

export const generateMetadata = titleForOperators('Account')

export default async function AccountPage({ params }: { params: Promise<{ userId: string }> }) {
  const ctx = await operatorContext('/admin')
  const found = await watchAccount(ctx, (await params).userId)
  if (!found) notFound()
  await noteLookUp(ctx, { userId: found.user_id, actor: 'operator', actorId: ctx.actor.userId, ip: null })
  return (
    <AdminPage title="Account" description="What the service knows about one person's account.">
      {'email' in found ? (
        <Active account={found} />
      ) : (
        <Part title={found.user_id} aside={<Badge>Withdrawn</Badge>}>
          <p>This person has deleted the account: {idLink('withdrawals')(found.withdrawal_id)}</p>
        </Part>
      )}
    </AdminPage>
  )
}

const Active = ({ account }: { account: ShownAccount }) => (
  <>
    <Part title={account.name} description={account.user_id} aside={<Badge tone="success">Active</Badge>}>
      <Facts of={shownAccount} row={account} fields={FACTS} />
    </Part>
    <Part title="Pending transactions" description="Each holds a deletion back until it is settled or cancelled.">
      <Table
        label="Pending transactions"
        of={shownTransaction}
        rows={account.pending_transactions}
        id="transaction_id"
        fields={{
          title: true,
          amount: ({ amount }) => amount && formatAmount(amount, 'en'),
          url: true,
          created_at: true,
          transaction_id: true,
        }}
        none="No transaction is pending."
      />
    </Part>
    <Part title="Blockers" description="Each holds a deletion back until it is removed or ends.">
      <Table
        label="Blockers"
        of={shownBlocker}
        rows={account.pushed_blockers}
        id="key"
        fields={{
          title: true,
          source: true,
          code: true,
          url: true,
          created_at: true,
          expires_at: true,
        }}
        none="No service holds a deletion back."
      />
    </Part>
  </>
)

const FACTS: Fields<typeof shownAccount> = {
  email: ({ email, email_verified, email_undeliverable }) =>
    `${email}${email_verified ? '' : ' (not verified)'}${email_undeliverable ? ' (mail comes back)' : ''}`,
  old_mailbox_lost_at: true,
  pending_change: ({ pending_change: { new_email, expires_at } }) =>
    new_email && expires_at ? (
      <>
        To {new_email}, until <LocalTime dateTime={expires_at} />
      </>
    ) : (
      'None'
    ),
  blockers: ({ blockers }) => {
    const until = blockers.find((blocker) => blocker.until)?.until
    return (
      until && (
        <>
          Nobody can delete it until <LocalTime dateTime={until} />: a change of the address was undone.
        </>
      )
    )
  },
  open_sessions: ({ open_sessions }) =>
    open_sessions > MAX_SESSIONS_COUNTED ? `More than ${MAX_SESSIONS_COUNTED}` : String(open_sessions),
  has_password: true,
  external_id: true,
  locale: true,
  role: true,
  created_at: true,
}
