import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { ColumnPage } from '@/components/layout/page'
import { PageHeading } from '@/components/layout/page-heading'
import { MessageList } from '@/components/mailbox/message-list'
import { MessageView } from '@/components/mailbox/message-view'
import { RefreshEvery } from '@/components/ui/refresh-every'
import { readMailbox } from '@/server/local/mailbox'
import type { PageProps } from '@/server/pages/session'

export const metadata: Metadata = { title: 'Local mailbox' }

export default async function MailboxPage({ searchParams }: PageProps) {
  const messages = await readMailbox()
  if (!messages) notFound()
  const { id } = await searchParams
  const chosen = messages.find((message) => message.id === id)
  const opened = chosen ?? messages[0]
  return (
    <ColumnPage account={null} link={{ href: '/settings/email', label: 'Settings' }}>
      <RefreshEvery seconds={2} />
      <PageHeading
        title="Local mailbox"
        description="Without a mail server, every message that would have been sent is kept and shown here, the newest first. New ones appear by themselves; those of a deleted account go after ten minutes."
      />
      {opened ? (
        <div className="grid items-start gap-6 lg:grid-cols-[20rem_minmax(0,1fr)]">
          <MessageList messages={messages} openedId={opened.id} isChosen={Boolean(chosen)} />
          <MessageView message={opened} isChosen={Boolean(chosen)} />
        </div>
      ) : (
        <p className="rounded-2xl border border-line border-dashed px-6 py-16 text-center text-ink-muted">
          No message yet. Start a change of address in the settings, and it appears here.
        </p>
      )}
    </ColumnPage>
  )
}
