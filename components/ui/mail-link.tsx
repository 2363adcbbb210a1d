import type { ReactNode } from 'react'
import { textLink } from './text-link'

/** The values of a rich text that names an address, with a link that writes to it. */
export const mailLink = (address: string) => ({
  address,
  link: (text: ReactNode) => (
    <a href={`mailto:${address}`} className={`wrap-anywhere ${textLink}`}>
      {text}
    </a>
  ),
})
