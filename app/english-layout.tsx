import type { ReactNode } from 'react'
import { EnglishOnly } from '@/components/layout/english-only'
import { TEXTS_OF_ALL, textsIn } from '@/server/pages/language'

/** Around pages for operators and programmers, which exist in English alone. */
export const EnglishLayout = async ({ children }: { children: ReactNode }) => (
  <EnglishOnly texts={await textsIn('en', TEXTS_OF_ALL)}>{children}</EnglishOnly>
)
