'use client'

import { createContext, type ReactNode, useContext } from 'react'
import { PageTexts } from './texts'

const EnglishOnlyContext = createContext(false)

/** Whether the page exists in English alone, so that a choice of languages would change nothing on it. */
export const useIsEnglishOnly = () => useContext(EnglishOnlyContext)

/** Shows header, footer, times and all other texts in English. */
export const EnglishOnly = ({ texts, children }: { texts: object; children: ReactNode }) => (
  <EnglishOnlyContext value>
    <div lang="en" dir="ltr" className="contents">
      <PageTexts language="en" texts={texts}>
        {children}
      </PageTexts>
    </div>
  </EnglishOnlyContext>
)
