import { notFound } from 'next/navigation'
import { cache } from 'react'
import { AuditPart } from '@/components/admin/audit-part'
import { Command } from '@/components/admin/command'
import { AppLink, type Fields } from '@/components/admin/drawn'
import { Facts } from '@/components/admin/facts'
import { PendingTransactions, PushedBlockers } from '@/components/admin/held-back'
import { idLink, linkOf } from '@/components/admin/id-link'
import { OperatorButton } from '@/components/admin/operator-button'
import { Part, TablePart } from '@/components/admin/part'
import { Badge } from '@/components/ui/badge'
import { Disclosure } from '@/components/ui/disclosure'
import { LocalTime } from '@/components/ui/local-time'
import { listedConnection } from '@/contract/connections'
import { type ShownAccount, type ShownAudit, shownAccount } from '@/contract/operator'
import { returnedSaid } from '@/contract/words'
import { noteLookUp } from '@/domain/accounts/find-user'
import { countHeld } from '@/domain/withdrawal/blockers'
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
        <Active account={found} operatorId={ctx.actor.userId} hasPasswords={ctx.hasPasswordSignIn} />
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

interface ActiveProps {
  account: ShownAccount
  operatorId: string
  hasPasswords: boolean
}

const Active = ({ account, operatorId, hasPasswords }: ActiveProps) => (
  <>
    <Part title="State" aside={<State account={account} />}>
      <Facts of={shownAccount} row={account} fields={FACTS} />
      <ByCommand account={account} hasPasswords={hasPasswords} />
    </Part>
    <PendingTransactions of={account} />
    <PushedBlockers of={account} />
    <TablePart
      title="Connected apps"
      of={listedConnection}
      rows={account.connections}
      id="app_id"
      fields={{ name: true, subject: true, connected_at: true }}
      none="No app is connected."
    />
    <AuditPart
      description="The last twenty actions, the newest first. Who looked at the account is in the export of the audit log alone."
      acts={account.audit}
      readerId={operatorId}
      subjectOf={subjectAmong(account.connections)}
      none="Nothing was done yet."
    />
  </>
)

const endSessions = (userId: string) => `session end --user ${userId}`

/** What this page has no button for. */
function ByCommand({ account, hasPasswords }: { account: ShownAccount; hasPasswords: boolean }) {
  const { user_id: userId, blockers, role, open_sessions } = account
  const held = countHeld(blockers)
  return (
    <Disclosure summary="Commands for this account" className="mt-3 -mb-2">
      <div className="space-y-3">
        {held ? (
          <div>To delete the account, first end what holds that back, below: {held}.</div>
        ) : (
          <div>
            To delete the account because the person asked for it:{' '}
            <Command words={`withdrawal start --user ${userId}`} />
          </div>
        )}
        {hasPasswords && (
          <div>
            To mail the person a link for a new password: <Command words={`user send-reset --user ${userId}`} />
          </div>
        )}
        <div>
          To give the account another address, because the person has lost the mailbox: make sure of the person, and add{' '}
          <code className="whitespace-nowrap font-mono text-sm">--old-mailbox lost</code> if somebody else may read the
          old one. <Command words={`user set-email --user ${userId} --email ADDRESS`} />
        </div>
        {(role === null || open_sessions === 0) && (
          <div>
            To end the browser sessions, and a pending change of the address, but no access tokens:{' '}
            <Command words={endSessions(userId)} />
          </div>
        )}
        <div>
          {role === null ? 'To let the person open these pages of operators: ' : 'To take the role away: '}
          <Command words={`user set-role --user ${userId} --role ${role === null ? 'operator' : 'none'}`} />
        </div>
      </div>
    </Disclosure>
  )
}

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
    if (action === 'role.changed') return null
    if (action.startsWith('withdrawal.blocker')) return subject_id
    const app = connections.find(({ app_id }) => app_id === subject_id)
    return app ? <AppLink id={app.app_id} name={app.name} /> : subject_id && linkOf(subject_id)
  }

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
  email_undeliverable: ({ email_undeliverable }) => returnedSaid(email_undeliverable),
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
    <Access count={open_sessions} role={role} ends={endSessions(user_id)} />
  ),
  open_access_tokens: ({ open_access_tokens, user_id, role }) => (
    <Access count={open_access_tokens} role={role} ends={`token revoke --user ${user_id}`} />
  ),
  has_password: true,
  external_id: true,
  locale: true,
  role: true,
  created_at: true,
}
