import { ArrowLeft } from 'lucide-react'
import Link from 'next/link'
import { Fragment } from 'react'
import { cn } from '../ui/class-names'
import { LocalTime } from '../ui/local-time'
import { textLink } from '../ui/text-link'
import { MessageFrame } from './message-frame'

interface MessageViewProps {
  message: {
    at: string
    to: string
    from: string
    subject: string
    html: string
    text: string
    files?: { name: string; type: string; content: string }[]
  }
  /** A narrow screen shows the message only if it was chosen, a wide one beside the list. */
  isChosen: boolean
}

export function MessageView({ message, isChosen }: MessageViewProps) {
  return (
    <article
      className={cn(
        'overflow-hidden rounded-2xl border border-line bg-surface shadow-rest',
        !isChosen && 'max-lg:hidden',
      )}
    >
      <Link
        href="/dev/mailbox"
        className="flex min-h-11 items-center gap-2 border-line border-b px-card font-medium text-sm -outline-offset-2 hover:bg-sunken lg:hidden"
      >
        <ArrowLeft className="size-4 rtl:rotate-180" aria-hidden /> All messages
      </Link>
      <header className="space-y-3 border-line border-b px-card py-5 sm:px-6">
        <h2 className="font-semibold text-lg leading-7 tracking-[-0.01em]">{message.subject}</h2>
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
          <dt className="text-ink-muted">From</dt>
          <dd className="wrap-anywhere">{message.from}</dd>
          <dt className="text-ink-muted">To</dt>
          <dd className="wrap-anywhere">{message.to}</dd>
          <dt className="text-ink-muted">Sent</dt>
          <dd>
            <LocalTime dateTime={message.at} />
          </dd>
          {message.files?.map(({ name, type, content }) => (
            <Fragment key={name}>
              <dt className="text-ink-muted">File</dt>
              <dd className="wrap-anywhere">
                <a
                  href={`data:${type};base64,${Buffer.from(content).toString('base64')}`}
                  download={name}
                  className={textLink}
                >
                  {name}
                </a>
              </dd>
            </Fragment>
          ))}
        </dl>
      </header>
      <MessageFrame html={message.html} />
      <details className="border-line border-t">
        <summary className="min-h-11 px-card py-3 font-medium text-sm -outline-offset-2 hover:bg-sunken sm:px-6">
          Plain text part
        </summary>
        <pre className="wrap-anywhere whitespace-pre-wrap px-card pb-6 font-mono text-[0.8125rem] leading-6 sm:px-6">
          {message.text}
        </pre>
      </details>
    </article>
  )
}
