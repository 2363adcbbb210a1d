'use client'

import { useEffect } from 'react'
import { takeReturnPath } from '@/components/session/return-path'

/** The identity provider sends nobody back to the page that was asked for, so the tab brings it back, with the fragment of a mailed link. */
export function RestoreReturnPath({ error }: { error: string }) {
  useEffect(() => {
    const path = takeReturnPath()
    if (path === null) return
    const { pathname, search, hash } = new URL(path, window.location.origin)
    window.location.replace(`/sign-in?${new URLSearchParams({ error, next: pathname + search })}${hash}`)
  }, [error])
  return null
}
