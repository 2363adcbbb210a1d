'use client'

import { createContext, type ReactNode, type RefObject, useContext, useEffect, useId, useRef, useState } from 'react'
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
  /** Whether that time was still to come when the page was made. */
  isFresh: boolean
  children: ReactNode
}

/**
 * A row that a refresh moves into another part is a new one there, and the focus goes where it went. With a row that has left, such as that
 * of a pressed button, it goes to what is said above the page.
 */
function useFocusThatFollows(otherwise: RefObject<HTMLElement | null>): void {
  const focused = useRef<Element>(null)
  useEffect(() => {
    const note = ({ target }: FocusEvent) => {
      focused.current = target instanceof Element ? target : null
    }
    window.addEventListener('focusin', note)
    return () => window.removeEventListener('focusin', note)
  }, [])
  useEffect(() => {
    const left = focused.current
    if (!left || left.isConnected || document.activeElement !== document.body) return
    const same = [...document.querySelectorAll<HTMLElement>(`main ${left.tagName}`)].find(
      ({ textContent }) => textContent === left.textContent,
    )
    same?.focus({ preventScroll: true })
    if (document.activeElement === document.body) otherwise.current?.focus({ preventScroll: true })
  })
}

/** Says above a page what became of the entries that have left it, because no row of theirs can. */
export function Outcomes({ freshUntil, isFresh, children }: OutcomesProps) {
  const [sentence, setSentence] = useState('')
  const [undone, setUndone] = useState<Act | null>(null)
  const isUndone = sentence === UNDONE
  useEffect(() => {
    const act = takeUndone(isFresh)
    if (!act) return
    setUndone(act)
    setSentence(UNDONE)
    // Whoever closes its dialog has given it up.
    const forget = () => setSentence((said) => (said === UNDONE ? '' : said))
    window.addEventListener('close', forget, { capture: true })
    return () => window.removeEventListener('close', forget, { capture: true })
  }, [isFresh])
  const inUse = useRef(false)
  useEffect(() => {
    inUse.current = true
  }, [])
  const newestAct = useState('')
  const status = useRef<HTMLDivElement>(null)
  useFocusThatFollows(status)
  useEffect(() => {
    if (sentence && document.activeElement === status.current) status.current?.scrollIntoView({ block: 'nearest' })
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
