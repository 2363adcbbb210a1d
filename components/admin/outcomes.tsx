'use client'

import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'

const NoteOutcome = createContext<(id: string, sentence: string) => void>(() => {})

/** Notes what became of an entry, to be said once it has left the list. */
export const useNoteOutcome = () => useContext(NoteOutcome)

interface OutcomesProps {
  /** The ids of the entries that are shown. */
  listed: readonly string[]
  children: ReactNode
}

/** A list of work. It says what became of the entries that have left it, because no row of theirs can. */
export function Outcomes({ listed, children }: OutcomesProps) {
  const [noted, setNoted] = useState<Record<string, string>>({})
  const gone = Object.entries(noted).filter(([id]) => !listed.includes(id))
  const status = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The pressed button left with its row, and the focus with it.
    if (gone.length > 0 && document.activeElement === document.body) status.current?.focus()
  }, [gone.length])
  return (
    <NoteOutcome value={(id, sentence) => setNoted((before) => ({ ...before, [id]: sentence }))}>
      {children}
      <div
        ref={status}
        tabIndex={-1}
        role="status"
        className="space-y-1 text-sm text-success outline-none not-empty:mt-4"
      >
        {gone.map(([id, sentence]) => (
          <p key={id} className="wrap-anywhere">
            {sentence}
          </p>
        ))}
      </div>
    </NoteOutcome>
  )
}
