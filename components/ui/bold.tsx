import type { ReactNode } from 'react'
import { cn } from './class-names'

const isWord = (text: ReactNode) => [text].flat().every((part) => typeof part === 'string' && !part.includes(' '))

/** A name or an address inside a text. An address stays on one line where it fits, although it may hold hyphens. */
export const bold = (text: ReactNode) => (
  <bdi className={cn('wrap-anywhere font-medium text-ink', isWord(text) && 'inline-block max-w-full')}>{text}</bdi>
)
