import type { ReactNode } from 'react'
import type { Messages } from 'use-intl'
import type { Slot } from './slot'

type Mails = Messages['Mails']

/** The texts of one letter in the reader's language. `rich` renders the texts with tags. */
export interface LetterTexts<Name extends keyof Mails> {
  (key: keyof Mails[Name] & string, values?: Record<string, string | Slot>): string
  rich(
    key: keyof Mails[Name] & string,
    parts: Record<string, string | Slot | ((content: ReactNode) => ReactNode)>,
  ): ReactNode
}
