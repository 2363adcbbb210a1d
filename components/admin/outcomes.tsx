'use client'

import { createContext, type ReactNode, useContext, useEffect, useId, useRef, useState } from 'react'
import { Alert } from '../ui/alert'
import { useServerTime } from '../ui/server-clock'
import { textLink } from '../ui/text-link'
import { type Act, signInFor, takeUndone } from './operate'

const NoteOutcome = createContext<(sentence: string) => void>(() => {})
const NewestAct = createContext<[key: string, note: (key: string) => void]>(['', () => {}])
const FreshUntil = createContext<string | null>(null)
const InUse = createContext({ current: false })
const UndoneAct = createContext<Act | null>(null)

/** Says it when the control leaves the page after its act, or once it has nothing to show any more; empty until then. */
export function useOutcome(sentence: string, isSpent = false): void {
  const noteOutcome = useContext(NoteOutcome)
  const leave = useRef(() => {})
  useEffect(() => {
    leave.current = () => {
      if (sentence) noteOutcome(sentence)
    }
  })
  useEffect(() => {
    if (isSpent) leave.current()
  }, [isSpent])
  useEffect(() => () => leave.current(), [])
}

/** Whether the page was shown before this came into it. */
export const useIsInUse = () => useContext(InUse).current

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

/** The act that led to the sign-in from which the operator comes, if it begins so: its dialog opens again with what was chosen. */
export function useUndone(...act: Act): Act | null {
  const undone = useContext(UndoneAct)
  return JSON.stringify(undone?.slice(0, act.length)) === JSON.stringify(act) ? undone : null
}

/** Stands in a dialog whose act would lead to a sign-in. */
export function SignInFirst({ act }: { act: Act }) {
  const until = useContext(FreshUntil)
  const now = useServerTime()
  if (until && now <= Date.parse(until)) return null
  return (
    <span className="mt-4 block font-medium text-ink">
      This needs a sign-in of the last ten minutes.{' '}
      <button type="button" className={textLink} onClick={() => signInFor(...act)}>
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
  const [undone, setUndone] = useState<Act | null>(null)
  const isUndone = sentence === UNDONE
  useEffect(() => {
    const act = takeUndone()
    setUndone(act)
    if (act) setSentence(UNDONE)
  }, [])
  const inUse = useRef(false)
  useEffect(() => {
    inUse.current = true
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
        <FreshUntil value={freshUntil}>
          <UndoneAct value={undone}>
            <InUse value={inUse}>{children}</InUse>
          </UndoneAct>
        </FreshUntil>
      </NewestAct>
    </NoteOutcome>
  )
}
