'use client'

import { useRouter } from 'next/navigation'
import { useEffect } from 'react'

/** Reads the page's figures again while somebody can see them. */
export function RefreshEvery({ seconds }: { seconds: number }) {
  const router = useRouter()
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && router.refresh(), seconds * 1000)
    return () => clearInterval(timer)
  }, [router, seconds])
  return null
}
