'use client'

import { WifiOff } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useTranslations } from 'use-intl/react'
import { useIsAway } from '../ui/service-away'

function subscribeOnline(listener: () => void) {
  const events = ['online', 'offline'] as const
  for (const event of events) window.addEventListener(event, listener)
  return () => {
    for (const event of events) window.removeEventListener(event, listener)
  }
}

/**
 * Blocks links while the browser is offline or the service is away, because they would replace the page and its typed text by the
 * browser's error page.
 */
export function OfflineNotice() {
  const t = useTranslations('Common')
  const isOnline = useSyncExternalStore(
    subscribeOnline,
    () => navigator.onLine,
    () => true,
  )
  const isAway = useIsAway()
  const isThere = isOnline && !isAway
  const [presses, setPresses] = useState(0)
  useEffect(() => {
    if (isThere) return setPresses(0)
    const stay = async (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null
      // It lies over the page, and has been read by the next press.
      if (link?.protocol.startsWith('http') !== true || link.hash || link.target || link.download) return setPresses(0)
      event.preventDefault()
      // A browser without a network calls itself offline where the service runs on the same machine.
      const answer = await fetch('/api/health/live', { cache: 'no-store' }).catch(() => null)
      if (answer) window.location.assign(link.href)
      else setPresses((before) => before + 1)
    }
    // The listener runs before that of the router.
    window.addEventListener('click', stay, { capture: true })
    return () => window.removeEventListener('click', stay, { capture: true })
  }, [isThere])
  if (isThere || presses === 0) return null
  return (
    <p
      key={presses}
      role="alert"
      className="fade-in fixed inset-x-4 bottom-4 z-50 mx-auto flex w-fit max-w-full animate-in items-center gap-2.5 rounded-xl border border-line bg-surface px-4 py-3 shadow-lift"
    >
      <WifiOff className="size-5 shrink-0 text-warning" aria-hidden /> {t(isOnline ? 'away' : 'offline')}
    </p>
  )
}
