import type { ReactNode } from 'react'

/** A name or an address inside a text. It breaks only where it is wider than a line, and not at a hyphen. */
export const bold = (text: ReactNode) => (
  <bdi className="wrap-anywhere inline-block max-w-full font-medium text-ink">{text}</bdi>
)
