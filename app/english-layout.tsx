import type { ReactNode } from 'react'
import { EnglishOnly } from '@/components/layout/english-only'
import { SHARED_AREAS, textsIn } from '@/server/pages/language'
import type { Area } from '@/server/texts/load-catalogue'

interface EnglishLayoutProps {
  /** The areas that these pages need beside the shared ones. */
  areas?: readonly Area[]
  children: ReactNode
}

/** The layout of pages for operators and programmers, which exist in English alone. */
export const EnglishLayout = async ({ areas = [], children }: EnglishLayoutProps) => (
  <EnglishOnly texts={await textsIn('en', [...SHARED_AREAS, ...areas])}>{children}</EnglishOnly>
)
