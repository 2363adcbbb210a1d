import { notFound } from 'next/navigation'
import { cache } from 'react'
import { Command } from '@/components/admin/command'
import { AppLink, auditFor, type Fields } from '@/components/admin/drawn'
import { Facts } from '@/components/admin/facts'
import { idLink, linkOf } from '@/components/admin/id-link'
import { OperatorButton } from '@/components/admin/operator-button'
import { Part, TablePart } from '@/components/admin/part'
import { Badge } from '@/components/ui/badge'
import { LocalTime } from '@/components/ui/local-time'
import { formatAmount, withAmount } from '@/contract/amount'
import { listedConnection } from '@/contract/connections'
import {
  type ShownAccount,
  type ShownAudit,
  type ShownBlocker,
  type ShownTransaction,
  shownAccount,
  shownAudit,
  shownBlocker,
  shownTransaction,
} from '@/contract/operator'
import { toLabel } from '@/contract/words'
import { noteLookUp } from '@/domain/accounts/find-user'
import { MAX_ACCESS_COUNTED, watchAccount } from '@/domain/withdrawal/show-account'
import { systemContext } from '@/server/system-context'
import { AdminPage } from '../../admin-page'
import { operatorContext, titleForOperators } from '../../for-operators'

/** Read once for the title and the page. */
const readAccount = cache((userId: string) => watchAccount(systemContext(), userId))

export const generateMetadata = titleForOperators('Account', async (id) => (await readAccount(id))?.user_id ?? null)

export default async function AccountPage({ params }: { params: Promise<{ userId: string }> }) {
  const ctx = await operatorContext('/admin')
  const found = await readAccount((await params).userId)
  if (!found) notFound()
  await noteLookUp(ctx, { userId: found.user_id, actor: 'operator', actorId: ctx.actor.userId, ip: null })
  return (
    <AdminPage
      title={'email' in found ? found.name : 'Account'}
      id={found.user_id}
      description="What the service knows about one person’s account."
    >
      {'email' in found ? (
        <Active account={found} operatorId={ctx.actor.userId} />
      ) : (
        <Part title="State" aside={<Badge>{found.is_over ? 'Deleted' : 'Being deleted'}</Badge>}>
          <p className="wrap-anywhere">
            This account {found.is_over ? 'was' : 'is being'} deleted: {idLink('withdrawals')(found.withdrawal_id)}
          </p>
        </Part>
      )}
    </AdminPage>
  )
}

const Active = ({ account, operatorId }: { account: ShownAccount; operatorId: string }) => (
  <>
    <Part title="State" aside={<State account={account} />}>
      <Facts of={shownAccount} row={account} fields={FACTS} />
    </Part>
    <TablePart
      title="Pending transactions"
      description="Each holds a deletion back until it is settled or cancelled."
      of={shownTransaction}
      rows={account.pending_transactions}
      id="transaction_id"
      fields={{
        title: ({ title, transaction_id }) => (
          <div id={transaction_id} className="scroll-mt-6">
            {title} <span className="block font-mono font-normal text-ink-muted">{transaction_id}</span>
          </div>
        ),
        amount: amountIn,
        url: true,
        created_at: true,
      }}
      actions={transactionButtons}
      none="No transaction is pending."
    />
    <TablePart
      title="Held back by services"
      description="Each holds a deletion back until its service removes it, its time is over, or you end it."
      of={shownBlocker}
      rows={account.pushed_blockers}
      id={idOfBlocker}
      fields={{
        title: ({ title, key }) => (
          <>
            {title} <span className="block font-mono font-normal text-ink-muted">{key}</span>
          </>
        ),
        amount: amountIn,
        source: true,
        code: true,
        url: true,
        created_at: true,
        expires_at: true,
      }}
      actions={blockerButton(account.user_id)}
      none={
        account.pending_transactions.length > 0
          ? 'Nothing else holds a deletion back.'
          : 'Nothing holds a deletion back.'
      }
    />
    <TablePart
      title="Connected apps"
      of={listedConnection}
      rows={account.connections}
      id="app_id"
      fields={{
        name: ({ app_id, name }) => <AppLink id={app_id} name={name} />,
        subject: true,
        connected_at: true,
      }}
      none="No app is connected."
    />
    <TablePart
      title="Audit log"
      description="The newest twenty acts, without look-ups."
      of={shownAudit}
      rows={account.audit}
      id="audit_id"
      fields={{ ...auditFor(operatorId), subject_id: subjectAmong(account.connections) }}
      none="Nothing was done yet."
    />
  </>
)

/** The operator command alone changes an account with a role. */
function State({ account }: { account: ShownAccount }) {
  const { user_id, role, open_sessions, open_access_tokens, pending_change } = account
  const hasAccess = open_sessions > 0 || open_access_tokens > 0 || pending_change.has_pending
  return (
    <div className="flex flex-wrap items-center gap-2 sm:ms-auto sm:justify-end sm:text-end">
      <Badge tone="success">Active</Badge>
      {role === null && hasAccess && (
        <OperatorButton
          operation="endAccountSessions"
          params={{}}
          body={{ user_id }}
          label="Sign out everywhere"
          ask={{
            question: 'Sign this person out everywhere?',
            consequence:
              'Every session and access token ends, and a pending change of the address is cancelled. The person can sign in again. This is written into the audit log.',
            keep: 'Leave them signed in',
            confirm: 'Sign out everywhere',
          }}
          outcome
        />
      )}
    </div>
  )
}

/** An act on a connection concerns its application, one on a blocker says which, and one of an operator anything that has a page. */
const subjectAmong =
  (connections: ShownAccount['connections']) =>
  ({ action, subject_id }: ShownAudit) => {
    if (action.startsWith('withdrawal.blocker')) return subject_id
    const app = connections.find(({ app_id }) => app_id === subject_id)
    return app ? <AppLink id={app.app_id} name={app.name} /> : subject_id && linkOf(subject_id)
  }

const AFTERWARDS =
  'After this it no longer blocks deleting the account. This cannot be undone, and is written into the audit log.'

const transactionButtons = (transaction: ShownTransaction) => {
  const { transaction_id: transactionId, title } = transaction
  const button = { operation: 'endTransaction', params: { transactionId }, of: title } as const
  const what = withAmount(transaction)
  const keep = 'Keep it pending'
  return (
    <>
      <OperatorButton
        {...button}
        body={{ status: 'settled' }}
        label="Settle"
        ask={{
          keep,
          consequence: `Settle it if it was paid. This moves no money. ${AFTERWARDS}`,
          question: `Settle ${what}?`,
          confirm: 'Settle',
          confirmVariant: 'primary',
        }}
        outcome={`Settled: ${title}.`}
      />
      <OperatorButton
        {...button}
        body={{ status: 'cancelled' }}
        label="Cancel"
        ask={{
          keep,
          consequence: `Cancel it if it was called off. This moves no money. ${AFTERWARDS}`,
          question: `Cancel ${what}?`,
          confirm: 'Cancel it',
        }}
        outcome={`Cancelled: ${title}.`}
      />
    </>
  )
}

const amountIn = ({ amount }: Pick<ShownTransaction, 'amount'>) =>
  amount && <span className="whitespace-nowrap">{formatAmount(amount, 'en')}</span>

/** Two services may use the same key. */
const idOfBlocker = ({ source, key }: ShownBlocker) => `${source} ${key}`

const blockerButton = (userId: string) => (blocker: ShownBlocker) => (
  <OperatorButton
    operation="endBlocker"
    params={{}}
    body={{ user_id: userId, source: blocker.source, key: blocker.key }}
    label="End"
    of={`${blocker.title} (${blocker.key})`}
    ask={{
      question: `End ${withAmount(blocker)} (${blocker.key})?`,
      consequence: `${AFTERWARDS} ${blocker.source} is not told, and may hold the account back again.`,
      keep: 'Keep it open',
      confirm: 'End it',
    }}
    outcome={`Ended: ${blocker.title} (${blocker.key}).`}
  />
)

/** What lets somebody in. Of an account with a role, the operator command alone ends it. */
const Access = ({ count, role, ends }: { count: number; role: string | null; ends: string }) => (
  <>
    {count > MAX_ACCESS_COUNTED ? `More than ${MAX_ACCESS_COUNTED}` : count}
    {role !== null && count > 0 && (
      <div className="text-ink-muted text-sm">
        The account has a role, so the operator command alone ends them: <Command words={ends} />
      </div>
    )}
  </>
)

const FACTS: Fields<typeof shownAccount> = {
  email: true,
  email_verified: true,
  email_undeliverable: ({ email_undeliverable }) =>
    email_undeliverable ? 'No, it comes back: reach the person another way' : 'Yes',
  old_mailbox_lost_at: true,
  pending_change: ({ pending_change: { new_email, expires_at } }) =>
    new_email && expires_at ? (
      <>
        To {new_email}, until <LocalTime dateTime={expires_at} format="short" />
      </>
    ) : (
      'None'
    ),
  blockers: ({ blockers }) => {
    const until = blockers.find((blocker) => blocker.until)?.until
    return (
      until && (
        <>
          Until <LocalTime dateTime={until} /> the person cannot delete it, because a change of the address was undone.
          The operator command still can.
        </>
      )
    )
  },
  open_sessions: ({ open_sessions, user_id, role }) => (
    <Access count={open_sessions} role={role} ends={`session end --user ${user_id}`} />
  ),
  open_access_tokens: ({ open_access_tokens, user_id, role }) => (
    <Access count={open_access_tokens} role={role} ends={`token revoke --user ${user_id}`} />
  ),
  has_password: true,
  external_id: true,
  locale: true,
  role: ({ role }) => role && toLabel(role),
  created_at: true,
}
