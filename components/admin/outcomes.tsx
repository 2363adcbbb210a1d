'use client'

import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import { takeUndone } from './operate'

const NoteOutcome = createContext<(sentence: string) => void>(() => {})

/** Says it when the control leaves the page after its act; empty until then. */
export function useOutcome(sentence: string): void {
  const noteOutcome = useContext(NoteOutcome)
  const leave = useRef(() => {})
  useEffect(() => {
    leave.current = () => {
      if (sentence) noteOutcome(sentence)
    }
  })
  useEffect(() => () => leave.current(), [])
}

/** Says above a page what became of the entries that have left it, because no row of theirs can. */
export function Outcomes({ children }: { children: ReactNode }) {
  const [sentence, setSentence] = useState('')
  useEffect(() => {
    if (takeUndone()) setSentence('Your last act needed a fresh sign-in and was not done. Press its button once more.')
  }, [])
  const status = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    // The pressed button left with its row, and the focus with it.
    if (sentence && document.activeElement === document.body) status.current?.focus()
  }, [sentence])
  return (
    <NoteOutcome value={setSentence}>
      <p ref={status} tabIndex={-1} role="status" className="wrap-anywhere font-medium outline-none empty:sr-only">
        {sentence}
      </p>
      {children}
    </NoteOutcome>
  )
}
