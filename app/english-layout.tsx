import type { ReactNode } from 'react'
import { EnglishOnly } from '@/components/english-only'
import { TEXTS_OF_ALL, textsIn } from '@/server/pages/language'

/** Around pages for operators and programmers, which exist in English alone. */
export const EnglishLayout = ({ children }: { children: ReactNode }) => (
  <EnglishOnly texts={textsIn('en', TEXTS_OF_ALL)}>{children}</EnglishOnly>
)
