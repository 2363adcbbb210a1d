import type { ReactNode } from 'react'
import type { Messages } from 'use-intl'
import type { Slot } from './slot'

export type Mails = Messages['Mails']

/** Texts in the reader's language. `rich` renders the texts with tags. */
export interface TextsNamed<Key extends string> {
  (key: Key, values?: Record<string, string | Slot>): string
  rich(key: Key, parts: Record<string, string | Slot | ((content: ReactNode) => ReactNode)>): ReactNode
}

/** The texts of one letter. */
export type LetterTexts<Name extends keyof Mails> = TextsNamed<keyof Mails[Name] & string>
