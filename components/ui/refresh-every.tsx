'use client'

import { useRouter } from 'next/navigation'
import { useEffect, useState } from 'react'
import { LocalTime } from './local-time'
import { serverNow } from './server-clock'

/**
 * Refreshes the page while its tab is visible and no dialog is open. While nothing answers, the page stays as it is and says how old it
 * is: Next would put the browser's own error page in its place, or ours, where the service cannot reach its data.
 */
export function RefreshEvery({ seconds }: { seconds: number }) {
  const router = useRouter()
  const [staleSince, setStaleSince] = useState<string>()
  useEffect(() => {
    let refreshedAt = serverNow()
    async function refresh() {
      if (document.visibilityState !== 'visible' || document.querySelector('dialog[open]')) return
      const isAnswered = await fetch('/api/health/ready', { cache: 'no-store' }).then(
        ({ ok }) => ok,
        () => false,
      )
      if (!isAnswered) return setStaleSince(new Date(refreshedAt).toISOString())
      refreshedAt = serverNow()
      setStaleSince(undefined)
      router.refresh()
    }
    const timer = setInterval(refresh, seconds * 1000)
    return () => clearInterval(timer)
  }, [router, seconds])
  return (
    <p role="status" className="mb-6 font-medium text-danger empty:sr-only">
      {staleSince && (
        <>
          You are offline, or the service does not answer. This page is as it was at{' '}
          <LocalTime dateTime={staleSince} format="time" />.
        </>
      )}
    </p>
  )
}
