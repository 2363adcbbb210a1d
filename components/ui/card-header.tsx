'use client'

import { createContext, type ReactNode, type RefObject, useContext } from 'react'

/** The level of the titles of cards: below the title of the page, or of a part of somebody else's page. */
export const CardLevel = createContext<'h2' | 'h3'>('h2')

interface CardHeaderProps {
  title: string
  /** Given if the heading takes the focus. */
  headingRef?: RefObject<HTMLHeadingElement | null>
  description?: ReactNode
  aside?: ReactNode
}

export function CardHeader({ title, headingRef, description, aside }: CardHeaderProps) {
  const Heading = useContext(CardLevel)
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-card pt-5 last:pb-5 sm:px-6 sm:pt-6 sm:last:pb-6">
      <div className="min-w-0">
        <Heading
          ref={headingRef}
          tabIndex={headingRef && -1}
          className="wrap-anywhere scroll-mt-6 font-semibold text-base leading-6 tracking-[-0.01em] outline-none"
        >
          {title}
        </Heading>
      </div>
      {aside}
      {/* Takes a line of its own however wide the card is. */}
      {description && (
        <div className="-mt-1 basis-full text-ink-muted">
          <p className="max-w-prose">{description}</p>
        </div>
      )}
    </div>
  )
}
