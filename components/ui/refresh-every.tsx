'use client'

import { useRouter } from 'next/navigation'
import { useEffect, useState } from 'react'
import { notReady } from '@/contract/words'
import { LocalTime } from './local-time'
import { serverNow } from './server-clock'
import { textLink } from './text-link'

interface RefreshEveryProps {
  seconds: number
  /** Whether it says that it refreshes, and has a button that stops it. */
  canPause?: boolean
}

/**
 * Refreshes the page while its tab is visible and no dialog is open. While nothing answers, the page stays as it is and says how old it
 * is: Next would put the browser's own error page in its place, or ours, where the service cannot reach its data.
 */
export function RefreshEvery({ seconds, canPause = false }: RefreshEveryProps) {
  const router = useRouter()
  const [isPaused, setPaused] = useState(false)
  const [stale, setStale] = useState<{ since: string; because: string }>()
  useEffect(() => {
    if (isPaused) return
    let refreshedAt = serverNow()
    async function refresh() {
      if (document.visibilityState !== 'visible' || document.querySelector('dialog[open]')) return
      const answer = await fetch('/api/health/ready', { cache: 'no-store' }).catch(() => undefined)
      if (!answer?.ok) {
        const health = await answer?.json().catch(() => undefined)
        return setStale({ since: new Date(refreshedAt).toISOString(), because: notReady(health?.reason) })
      }
      refreshedAt = serverNow()
      setStale(undefined)
      router.refresh()
    }
    const timer = setInterval(refresh, seconds * 1000)
    return () => clearInterval(timer)
  }, [router, seconds, isPaused])
  return (
    <>
      {canPause && !stale && (
        <p className="-mt-6 mb-7 text-ink-muted">
          {isPaused ? 'Paused.' : 'Refreshes every few seconds.'}{' '}
          <button type="button" className={textLink} onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Refresh again' : 'Pause'}
          </button>
        </p>
      )}
      <p role="status" className="mb-6 font-medium text-danger empty:sr-only">
        {stale && (
          <>
            {stale.because} This page is as it was at <LocalTime dateTime={stale.since} format="time" />, and goes on by
            itself.
          </>
        )}
      </p>
    </>
  )
}
