import Link from 'next/link'
import { cn } from '../ui/class-names'
import { LocalTime } from '../ui/local-time'

interface MessageListProps {
  messages: readonly { id: string; at: string; to: string; subject: string }[]
  openedId: string
  isChosen: boolean
}

export function MessageList({ messages, openedId, isChosen }: MessageListProps) {
  return (
    <nav
      aria-label="Messages"
      className={cn(
        'overflow-hidden rounded-2xl border border-line bg-surface shadow-rest',
        isChosen && 'max-lg:hidden',
      )}
    >
      <ol className="max-h-[44rem] divide-y divide-line overflow-y-auto">
        {messages.map((message) => (
          <li key={message.id}>
            <Link
              href={{ pathname: '/dev/mailbox', query: { id: message.id } }}
              prefetch={false}
              aria-current={message.id === openedId ? 'true' : undefined}
              className="block px-4 py-3 -outline-offset-2 hover:bg-sunken/60 aria-[current]:bg-accent-soft"
            >
              <span className="block truncate font-medium">{message.subject}</span>
              <span className="block truncate text-ink-muted text-sm">{message.to}</span>
              <span className="block text-ink-muted text-xs tabular-nums">
                <LocalTime dateTime={message.at} />
              </span>
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  )
}
