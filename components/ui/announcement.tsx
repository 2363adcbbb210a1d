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
  /** Where the pressed control is gone, or may be. */
  takesFocus: boolean | 'if-lost'
  children: ReactNode
}

/** What a press or an event has changed, above the page. */
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
