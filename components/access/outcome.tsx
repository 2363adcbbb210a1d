'use client'

import type { ReactNode } from 'react'
import { Alert } from '../ui/alert'
import { useFocusOnMount } from '../ui/use-focus-on-mount'

export interface Outcome {
  /** What was ended. */
  id: string
  title: string
  text: ReactNode
}

/** What a press did, said once above the page; it takes the focus from the row that is gone. */
export function OutcomeAlert({ outcome }: { outcome: Outcome }) {
  const ref = useFocusOnMount<HTMLDivElement>(true)
  return (
    <div
      ref={ref}
      tabIndex={-1}
      className="fade-in slide-in-from-top-1 scroll-mt-6 animate-in rounded-xl outline-none duration-200"
    >
      <Alert tone="success" title={outcome.title}>
        <p>{outcome.text}</p>
      </Alert>
    </div>
  )
}
