'use client'

import type { ReactNode } from 'react'
import { IntlProvider, useLocale, useMessages } from 'use-intl/react'

// No text formats a date; without a zone the library writes a warning to the log.
const TIME_ZONE = 'UTC'

interface TextsProps {
  texts: object
  children: ReactNode
}

/** The texts of the client components inside, beside those that the page around them has. */
export const Texts = ({ texts, children }: TextsProps) => (
  <IntlProvider locale={useLocale()} timeZone={TIME_ZONE} messages={{ ...useMessages(), ...texts }}>
    {children}
  </IntlProvider>
)

/** The language of the whole page, and the texts that every page needs in the browser. */
export const PageTexts = ({ language, texts, children }: TextsProps & { language: string }) => (
  <IntlProvider locale={language} timeZone={TIME_ZONE} messages={texts as Record<string, never>}>
    {children}
  </IntlProvider>
)
