import type { ReactNode } from 'react'

/** A name or an address inside a text. */
export const bold = (text: ReactNode) => <bdi className="wrap-anywhere font-medium text-ink">{text}</bdi>
