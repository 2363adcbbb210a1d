'use client'

import { type ComponentProps, type ReactNode, useId } from 'react'
import { cn } from '../ui/class-names'
import { FieldError } from '../ui/field'

const CELLS = ['1', '2', '3', '4', '5', '6']

const digitsOf = (text: string) => text.replace(/[^0-9]/g, '').slice(0, CELLS.length)

interface CodeFieldProps extends ComponentProps<'input'> {
  label: string
  hint: string
  error?: string
  /** The button beside the cells, or below them on a phone. */
  action: ReactNode
}

/** One text input over six drawn cells. A pasted text may hold spaces, dashes or the words around the code. */
export function CodeField({ label, hint, error, action, ...rest }: CodeFieldProps) {
  const id = useId()
  return (
    <div className="grid gap-x-4 gap-y-2 sm:grid-cols-[auto_minmax(0,1fr)]">
      <label htmlFor={id} className="font-medium sm:col-span-2">
        {label}
      </label>
      <div className="code-cells group">
        <div className="flex w-full gap-(--gap)" aria-hidden>
          {CELLS.map((cell) => (
            <span
              key={cell}
              className={cn(
                'w-(--cell) shrink-0 rounded-lg border bg-surface transition-colors',
                'group-focus-within:ring-1',
                error
                  ? 'border-danger group-focus-within:ring-danger'
                  : 'border-line-control group-focus-within:border-accent group-focus-within:ring-accent group-hover:border-ink-muted',
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
          aria-describedby={error ? `${id}-hint ${id}-error` : `${id}-hint`}
          {...rest}
          onInput={(event) => {
            const digits = digitsOf(event.currentTarget.value)
            if (digits !== event.currentTarget.value) event.currentTarget.value = digits
          }}
        />
      </div>
      <div className="space-y-1.5 sm:col-span-2">
        <p id={`${id}-hint`} className="text-ink-muted text-sm leading-5">
          {hint}
        </p>
        <FieldError id={`${id}-error`}>{error}</FieldError>
      </div>
      <div className="sm:col-start-2 sm:row-start-2">{action}</div>
    </div>
  )
}
