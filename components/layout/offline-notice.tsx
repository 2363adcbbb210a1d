'use client'

import { TriangleAlert } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
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

/** Whether the service answers. A browser without a network calls itself offline where the service runs on the same machine. */
const answers = () =>
  fetch('/api/health/live', { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) }).then(
    () => true,
    () => false,
  )

/** The link or the form with which an event leaves the page for another of the service. */
function departureOf(event: Event) {
  const { target } = event
  if (target instanceof HTMLFormElement) return target.getAttribute('action')?.startsWith('/') ? target : undefined
  const { altKey, ctrlKey, metaKey, shiftKey } = event as MouseEvent
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href]') : null
  if (link?.origin !== window.location.origin || link.hash || link.target || link.download) return
  return altKey || ctrlKey || metaKey || shiftKey ? undefined : link
}

/**
 * Lets a link or a form leave the page once the service has answered. Without an answer the browser's error page would replace this page
 * and what was typed there.
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
  const [form, setForm] = useState<HTMLFormElement>()
  useEffect(() => {
    let mayLeave: Element | undefined
    let isAsking = false
    // A pointer goes down a tenth of a second before its click, which then need not wait for the answer.
    const askEarly = async (event: Event) => {
      mayLeave = undefined
      const departure = departureOf(event)
      if (departure && (await answers())) mayLeave = departure
    }
    const stay = async (event: Event) => {
      const departure = departureOf(event)
      // The notice lies over the page, and has been read by the next press.
      if (!departure || departure === mayLeave) return setPresses(0)
      event.preventDefault()
      event.stopPropagation()
      if (isAsking) return
      isAsking = true
      const hasAnswered = await answers()
      isAsking = false
      if (hasAnswered) {
        mayLeave = departure
        if (departure instanceof HTMLFormElement) departure.requestSubmit((event as SubmitEvent).submitter)
        else departure.click()
        mayLeave = undefined
        return
      }
      lookUntilBack(window.location.origin)
      setForm(departure instanceof HTMLFormElement ? departure : undefined)
      setPresses((before) => before + 1)
    }
    // They run before the router's own listener.
    const listeners = { pointerdown: askEarly, click: stay, submit: stay }
    for (const [event, listener] of Object.entries(listeners))
      window.addEventListener(event, listener, { capture: true })
    return () => {
      for (const [event, listener] of Object.entries(listeners))
        window.removeEventListener(event, listener, { capture: true })
    }
  }, [])
  if (presses === 0) return null
  const place = form
    ? ''
    : 'fade-in sticky bottom-4 z-50 mx-auto mb-4 w-fit max-w-[calc(100%-2rem)] animate-in rounded-xl border border-line bg-surface px-4 py-3 shadow-lift'
  const notice = (
    <p
      key={`${presses} ${isThere}`}
      role="alert"
      data-over-page={!form || undefined}
      className={`flex items-center gap-2.5 ${place}`}
    >
      {!isThere && <TriangleAlert className="size-5 shrink-0 text-warning" aria-hidden />}
      {isThere ? errors('back') : form ? errors('rules.notSent') : t(isOnline ? 'away' : 'offline')}
    </p>
  )
  return form ? createPortal(notice, form) : notice
}
