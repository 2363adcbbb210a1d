'use client'

import { TriangleAlert } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useTranslations } from 'use-intl/react'
import { lookUntilBack, useIsAway } from '../ui/service-away'

function subscribeOnline(listener: () => void) {
  const events = ['online', 'offline'] as const
  for (const event of events) window.addEventListener(event, listener)
  return () => {
    for (const event of events) window.removeEventListener(event, listener)
  }
}

/** So long a service that runs may take to say so. */
const ANSWER_MS = 3_000

const hasTypedText = () =>
  [
    ...document.querySelectorAll<HTMLInputElement>(
      'main :is(input:not([type=checkbox], [type=radio], [type=hidden]), textarea)',
    ),
  ].some(({ value, defaultValue }) => value !== defaultValue)

const opensElsewhere = ({ altKey, ctrlKey, metaKey, shiftKey }: MouseEvent) => altKey || ctrlKey || metaKey || shiftKey

/** How a press on a link leaves the page, or how a form does that the browser sends itself. */
function departureOf(event: Event): (() => void) | undefined {
  const { target } = event
  if (target instanceof HTMLFormElement)
    return target.getAttribute('action')?.startsWith('/') ? () => target.submit() : undefined
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href]') : null
  if (link?.protocol.startsWith('http') !== true || link.hash || link.target || link.download) return
  return () => window.location.assign(link.href)
}

/**
 * Blocks links and forms while the browser is offline or the service is away, because they would replace the page and its typed text by
 * the browser's error page. A form, and a page that holds typed text, asks the service first.
 */
export function OfflineNotice() {
  const t = useTranslations('Common')
  const errors = useTranslations('Errors')
  const isOnline = useSyncExternalStore(
    subscribeOnline,
    () => navigator.onLine,
    () => true,
  )
  const isAway = useIsAway()
  const isThere = isOnline && !isAway
  const [presses, setPresses] = useState(0)
  const [isForm, setForm] = useState(false)
  useEffect(() => {
    const stay = async (event: Event) => {
      const leave = departureOf(event)
      // It lies over the page, and has been read by the next press.
      if (!leave) return setPresses(0)
      if (event instanceof MouseEvent && (opensElsewhere(event) || (isThere && !hasTypedText()))) return setPresses(0)
      event.preventDefault()
      // A browser without a network calls itself offline where the service runs on the same machine.
      const signal = AbortSignal.timeout(ANSWER_MS)
      const answer = await fetch('/api/health/live', { cache: 'no-store', signal }).catch(() => null)
      if (answer) return leave()
      lookUntilBack(window.location.origin)
      setForm(event.type === 'submit')
      setPresses((before) => before + 1)
    }
    // The listener runs before that of the router.
    for (const event of ['click', 'submit']) window.addEventListener(event, stay, { capture: true })
    return () => {
      for (const event of ['click', 'submit']) window.removeEventListener(event, stay, { capture: true })
    }
  }, [isThere])
  if (presses === 0) return null
  return (
    <p
      key={`${presses} ${isThere}`}
      role="alert"
      className="fade-in fixed inset-x-4 bottom-4 z-50 mx-auto flex w-fit max-w-full animate-in items-center gap-2.5 rounded-xl border border-line bg-surface px-4 py-3 shadow-lift"
    >
      {!isThere && <TriangleAlert className="size-5 shrink-0 text-warning" aria-hidden />}
      {isThere ? errors('back') : t(isForm ? 'notSent' : isOnline ? 'away' : 'offline')}
    </p>
  )
}
