'use client'

import type { ReactNode } from 'react'
import { Alert } from '../ui/alert'
import { Announcement } from '../ui/announcement'

export interface Outcome {
  /** The id of what was ended. */
  id: string
  title: string
  text: ReactNode
}

/** The effect of a press. It takes the focus from the row that is gone. */
export const OutcomeAlert = ({ outcome }: { outcome: Outcome }) => (
  <Announcement takesFocus>
    <Alert tone="success" title={outcome.title} text={outcome.text} />
  </Announcement>
)
