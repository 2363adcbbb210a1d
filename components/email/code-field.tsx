'use client'

import {
  type ChangeEvent,
  type ComponentProps,
  type ReactNode,
  type SyntheticEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { asciiDigits } from '@/contract/digits'
import { VERIFICATION_CODE_LENGTH as LENGTH } from '@/contract/vocabulary'
import { cn } from '../ui/class-names'
import { FieldError } from '../ui/field'

const isComposing = ({ nativeEvent }: SyntheticEvent) => nativeEvent instanceof InputEvent && nativeEvent.isComposing
const CELLS = Array.from({ length: LENGTH }, (_, index) => index)

const digitsOf = (text: string) =>
  asciiDigits(text)
    .replace(/[^0-9]/g, '')
    .slice(0, LENGTH)

function keepDigits(input: HTMLInputElement) {
  const digits = digitsOf(input.value)
  if (digits !== input.value) input.value = digits
}

interface CodeFieldProps extends ComponentProps<'input'> {
  label: string
  /** The id of a text elsewhere that a screen reader reads with the label. */
  describedBy?: string | undefined
  hint: ReactNode
  error?: string
  /** Called when the sixth digit is there. */
  onComplete: () => void
  /** The button beside the cells, or below them on a phone. */
  action: ReactNode
}

/** One text input over six drawn cells. A pasted text may hold spaces, dashes or the words around the code. */
export function CodeField({ label, describedBy, hint, error, onComplete, action, onChange, ...rest }: CodeFieldProps) {
  const id = useId()
  const field = useRef<HTMLDivElement>(null)
  const [{ start, end }, setSelection] = useState({ start: 0, end: 0 })
  // After every render too, because the browser reports no selection that moved when the form set another value.
  const readSelection = () => {
    const { selectionStart, selectionEnd } = field.current?.querySelector('input') ?? {}
    const [from, to] = [selectionStart ?? 0, selectionEnd ?? 0]
    setSelection((before) => (before.start === from && before.end === to ? before : { start: from, end: to }))
  }
  useLayoutEffect(readSelection)
  const changed = (event: SyntheticEvent<HTMLInputElement>) => {
    onChange?.(event as ChangeEvent<HTMLInputElement>)
    if (event.currentTarget.value.length === LENGTH) onComplete()
  }
  const isMarked = (cell: number) =>
    start === end ? cell === Math.min(start, LENGTH - 1) : cell >= start && cell < end
  return (
    <div className="@container flex flex-wrap gap-x-4 gap-y-2">
      <label htmlFor={id} className="w-full font-medium">
        {label}
      </label>
      {/* As wide as the cells, so that what is wrong stands between them and a button that has no room beside them. */}
      <div className="w-min space-y-2 has-[p]:mb-2">
        <div ref={field} dir="ltr" className="code-cells group">
          <div className="flex w-full gap-(--gap)" aria-hidden>
            {CELLS.map((cell) => (
              <span
                key={cell}
                className={cn(
                  'w-(--cell) shrink-0 rounded-lg border bg-surface transition-colors',
                  error ? 'border-danger' : 'border-line-control group-hover:border-ink-muted',
                  // A ring is a shadow, which forced colours do not draw.
                  isMarked(cell) && 'group-focus-within:ring-2 forced-colors:group-focus-within:outline-2',
                  isMarked(cell) &&
                    (error
                      ? 'group-focus-within:ring-danger'
                      : 'group-focus-within:border-accent group-focus-within:ring-accent'),
                )}
              />
            ))}
          </div>
          <input
            id={id}
            type="text"
            inputMode="numeric"
            autoComplete="one-time-code"
            autoCorrect="off"
            spellCheck={false}
            className="code-input"
            aria-invalid={error ? true : undefined}
            aria-describedby={[error && `${id}-error`, describedBy, hint && `${id}-hint`].filter(Boolean).join(' ')}
            {...rest}
            onSelect={readSelection}
            // The text of an input method is left alone until it is settled.
            onInput={(event) => !isComposing(event) && keepDigits(event.currentTarget)}
            onChange={(event) => !isComposing(event) && changed(event)}
            onCompositionEnd={(event) => {
              keepDigits(event.currentTarget)
              changed(event)
            }}
          />
        </div>
        {hint && (
          <p id={`${id}-hint`} className="font-medium text-danger text-sm leading-5">
            {hint}
          </p>
        )}
        <FieldError id={`${id}-error`}>{error}</FieldError>
      </div>
      <div className="max-sm:w-full">{action}</div>
    </div>
  )
}
