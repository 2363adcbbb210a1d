'use client'

import type { ReactNode } from 'react'
import { useFocusOnMount } from './use-focus-on-mount'

/** Stays in the document while empty, so that screen readers announce what is put into it. */
export const LiveRegion = ({ children }: { children: ReactNode }) => (
  <div aria-live="polite" className="empty:sr-only">
    {children}
  </div>
)

interface AnnouncementProps {
  /** `if-lost`: only if nothing has the focus, because the focused control may be gone. */
  takesFocus: boolean | 'if-lost'
  children: ReactNode
}

/** Shows above the page what a press or an event has changed. */
export function Announcement({ takesFocus, children }: AnnouncementProps) {
  const ref = useFocusOnMount<HTMLDivElement>(takesFocus)
  return (
    <div
      ref={ref}
      tabIndex={-1}
      className="fade-in slide-in-from-top-1 scroll-mt-6 animate-in rounded-xl outline-none duration-200"
    >
      {children}
    </div>
  )
}
