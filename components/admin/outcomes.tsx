'use client'

import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'

const NoteOutcome = createContext<(sentence: string) => void>(() => {})

/** Says what became of an entry that has left the page. */
export const useNoteOutcome = () => useContext(NoteOutcome)

/** Says above a page what became of the entries that have left it, because no row of theirs can. */
export function Outcomes({ children }: { children: ReactNode }) {
  const [sentence, setSentence] = useState('')
  const status = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    // The pressed button left with its row, and the focus with it.
    if (sentence && document.activeElement === document.body) status.current?.focus()
  }, [sentence])
  return (
    <NoteOutcome value={setSentence}>
      <p ref={status} tabIndex={-1} role="status" className="wrap-anywhere text-success outline-none empty:sr-only">
        {sentence}
      </p>
      {children}
    </NoteOutcome>
  )
}
