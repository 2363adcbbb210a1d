'use client'

import { createContext, type ReactNode, useContext, useEffect, useId, useRef, useState } from 'react'
import { Alert } from '../ui/alert'
import { useServerTime } from '../ui/server-clock'
import { textLink } from '../ui/text-link'
import { signInAgain, takeUndone } from './operate'

const NoteOutcome = createContext<(sentence: string) => void>(() => {})
const NewestAct = createContext<[key: string, note: (key: string) => void]>(['', () => {}])
const FreshUntil = createContext<string | null>(null)

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

/**
 * Whether the control did the newest act of the page, as `note` tells: an older result may not hold any more. `begin` takes the page's
 * sentence about an earlier act away.
 */
export function useNewestAct(): { isNewest: boolean; begin(): void; note(): void } {
  const [newest, noteKey] = useContext(NewestAct)
  const noteOutcome = useContext(NoteOutcome)
  const key = useId()
  return { isNewest: newest === key, begin: () => noteOutcome(''), note: () => noteKey(key) }
}

/** Stands in a dialog whose act would lead to a sign-in, so that nobody chooses in vain. */
export function SignInFirst() {
  const until = useContext(FreshUntil)
  const now = useServerTime()
  if (until && now <= Date.parse(until)) return null
  return (
    <span className="mt-4 block font-medium text-ink">
      This needs a sign-in of the last ten minutes.{' '}
      <button type="button" className={textLink} onClick={signInAgain}>
        Sign in again
      </button>{' '}
      first.
    </span>
  )
}

const UNDONE = 'Your last act needed a fresh sign-in and was not done. Press its button once more.'

interface OutcomesProps {
  /** Until then the operator may act without a new sign-in. */
  freshUntil: string | null
  children: ReactNode
}

/** Says above a page what became of the entries that have left it, because no row of theirs can. */
export function Outcomes({ freshUntil, children }: OutcomesProps) {
  const [sentence, setSentence] = useState('')
  const isUndone = sentence === UNDONE
  useEffect(() => {
    if (takeUndone()) setSentence(UNDONE)
  }, [])
  const newestAct = useState('')
  const status = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The pressed button left with its row, and the focus with it.
    if (sentence && document.activeElement === document.body) status.current?.focus()
  }, [sentence])
  return (
    <NoteOutcome value={setSentence}>
      <div ref={status} tabIndex={-1} role="status" className="scroll-mt-6 outline-none empty:sr-only">
        {sentence && <Alert tone={isUndone ? 'warning' : 'success'} title={sentence} />}
      </div>
      <NewestAct value={newestAct}>
        <FreshUntil value={freshUntil}>{children}</FreshUntil>
      </NewestAct>
    </NoteOutcome>
  )
}
