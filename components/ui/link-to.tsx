import type { ReactNode } from 'react'
import { textLink } from './text-link'

/** A link in a rich text. */
export const linkTo = (href: string) => (text: ReactNode) => (
  <a href={href} className={textLink}>
    {text}
  </a>
)
