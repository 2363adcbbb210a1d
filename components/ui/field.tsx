'use client'

import { type ComponentProps, type ReactNode, type RefCallback, useId, useLayoutEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { cn } from './class-names'
import { useHydrated } from './use-hydrated'

interface Described {
  hint?: ReactNode
  /** What is wrong and what to do. */
  error?: ReactNode
}

interface FieldProps extends Described {
  label: string
}

const control =
  'block w-full rounded-lg border border-line-control bg-surface px-3 text-base text-ink transition-colors placeholder:text-ink-muted/80 hover:border-ink-muted focus-visible:border-accent focus-visible:outline-2 focus-visible:outline-accent focus-visible:-outline-offset-1 aria-invalid:border-danger aria-invalid:focus-visible:outline-danger'

function useDescription({ hint, error }: Described) {
  const id = useId()
  const hintId = `${id}-hint`
  const errorId = `${id}-error`
  const describedBy = [hint && hintId, error && errorId].filter(Boolean).join(' ') || undefined
  const description = (
    <>
      {hint && (
        <p id={hintId} className="text-ink-muted text-sm leading-5">
          {hint}
        </p>
      )}
      <FieldError id={errorId}>{error}</FieldError>
    </>
  )
  return { id, description, aria: { 'aria-describedby': describedBy, 'aria-invalid': error ? true : undefined } }
}

const Label = (props: { htmlFor: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: every field gives its own.
  <label className="block font-medium" {...props} />
)

/** Stays in the document while empty, so that screen readers announce the text that is put into it. */
export function FieldError({ id, children }: { id?: string; children: ReactNode }) {
  return (
    <div aria-live="polite">
      {children && (
        <p id={id} className="wrap-anywhere font-medium text-danger text-sm leading-5">
          {children}
        </p>
      )}
    </div>
  )
}

export function TextField({ label, hint, error, className, ...rest }: FieldProps & ComponentProps<'input'>) {
  const { id, description, aria } = useDescription({ hint, error })
  return (
    <div className={cn('space-y-1.5', className)}>
      <Label htmlFor={id}>{label}</Label>
      <input id={id} dir="auto" className={cn(control, 'h-11 sm:h-10')} {...aria} {...rest} />
      {description}
    </div>
  )
}

export const EmailField = (props: ComponentProps<typeof TextField>) => (
  <TextField inputMode="email" autoCapitalize="none" autoCorrect="off" spellCheck={false} {...props} />
)

/** Asks a person who is signed in for the password again; `hint` says why. */
export function CurrentPasswordField({
  email,
  ...rest
}: { email: string } & Omit<ComponentProps<typeof PasswordField>, 'label'>) {
  const t = useTranslations('Identity')
  return (
    <>
      {/* Tells a password manager whose password it is. */}
      <input type="text" autoComplete="username" value={email} readOnly hidden />
      <PasswordField label={t('currentPassword')} autoComplete="current-password" {...rest} />
    </>
  )
}

export function PasswordField({ label, hint, error, className, ...rest }: FieldProps & ComponentProps<'input'>) {
  const { id, description, aria } = useDescription({ hint, error })
  const t = useTranslations('Common')
  const [isShown, setShown] = useState(false)
  const hydrated = useHydrated()
  return (
    <div className={cn('space-y-1.5', className)}>
      <Label htmlFor={id}>{label}</Label>
      <div className="relative">
        <input
          id={id}
          type={isShown ? 'text' : 'password'}
          autoCapitalize="none"
          spellCheck={false}
          className={cn(control, 'h-11 pe-18 sm:h-10')}
          {...aria}
          {...rest}
        />
        <button
          type="button"
          disabled={!hydrated}
          aria-controls={id}
          onClick={() => setShown(!isShown)}
          className="absolute inset-y-1 end-1 rounded-md px-3 font-medium text-ink-muted text-sm hover:bg-sunken hover:text-ink"
        >
          {t.rich(isShown ? 'hidePassword' : 'showPassword', {
            what: (text) => <span className="sr-only">{text}</span>,
          })}
        </button>
      </div>
      {description}
    </div>
  )
}

interface TextAreaFieldProps extends FieldProps, ComponentProps<'textarea'> {
  /** In code points, as the service counts. Longer texts are not cut but refused. Without it nothing is counted. */
  maxCharacters?: number
}

export function TextAreaField({ label, hint, error, maxCharacters, className, onInput, ...rest }: TextAreaFieldProps) {
  const { id, description, aria } = useDescription({ hint, error })
  const [length, setLength] = useState(() => Array.from(String(rest.defaultValue ?? rest.value ?? '')).length)
  const t = useTranslations('Common')
  const left = (maxCharacters ?? Number.POSITIVE_INFINITY) - length
  return (
    <div className={cn('space-y-1.5', className)}>
      <Label htmlFor={id}>{label}</Label>
      <textarea
        id={id}
        dir="auto"
        rows={4}
        className={cn(control, 'field-sizing-content max-h-80 min-h-28 py-2.5 leading-6')}
        {...aria}
        {...rest}
        onInput={(event) => {
          setLength(Array.from(event.currentTarget.value).length)
          onInput?.(event)
        }}
      />
      <div className="flex items-start justify-between gap-4">
        <div className="space-y-1.5">{description}</div>
        {maxCharacters && (
          <p
            className={cn('shrink-0 text-sm tabular-nums leading-5', left < 0 ? 'text-danger' : 'text-ink-muted')}
            aria-hidden
          >
            {length} / {maxCharacters}
          </p>
        )}
      </div>
      <p className="sr-only" aria-live="polite">
        {left < 0 && t('charactersTooMany', { count: -left })}
        {left >= 0 && left <= 20 && t('charactersLeft', { count: left })}
      </p>
    </div>
  )
}

interface CheckboxFieldProps extends Described, ComponentProps<'input'> {
  label: ReactNode
}

export function CheckboxField({ label, hint, error, className, ...rest }: CheckboxFieldProps) {
  const { id, description, aria } = useDescription({ hint, error })
  return (
    <div className={cn('flex gap-3', className)}>
      <input id={id} type="checkbox" className="mt-1 size-4.5 shrink-0 accent-accent" {...aria} {...rest} />
      <div className="min-w-0 space-y-0.5">
        <Label htmlFor={id}>{label}</Label>
        {description}
      </div>
    </div>
  )
}

interface RadioFieldProps extends Described, Omit<ComponentProps<'input'>, 'defaultValue' | 'value' | 'ref'> {
  /** Of React Hook Form. */
  ref?: RefCallback<HTMLInputElement>
  legend: string
  options: readonly { value: string; label: string; description?: string }[]
  defaultValue?: string
  /** `cards`: side by side where there is room. `list`: one below the other. */
  appearance?: keyof typeof radioGroup
}

const radioGroup = {
  cards: 'grid gap-2.5 sm:grid-cols-[repeat(auto-fit,minmax(min(100%,7.5rem),1fr))]',
  list: 'grid',
}

export function RadioField({
  legend,
  options,
  hint,
  error,
  defaultValue,
  appearance = 'cards',
  className,
  ref,
  ...rest
}: RadioFieldProps) {
  const { description, aria } = useDescription({ hint, error })
  const group = useRegisteredRadios(ref)
  return (
    <fieldset ref={group} className={cn('min-w-0 space-y-1.5', className)} aria-describedby={aria['aria-describedby']}>
      <legend className="mb-1.5 font-medium">{legend}</legend>
      <div className={radioGroup[appearance]}>
        {options.map((option) => (
          <label
            key={option.value}
            className={cn(
              'flex cursor-pointer has-focus-visible:outline-2 has-focus-visible:outline-accent',
              appearance === 'cards' &&
                'items-start gap-3 rounded-lg border border-line px-3.5 py-3 transition-colors hover:border-line-control has-checked:border-accent has-checked:bg-accent-soft/50 has-focus-visible:outline-offset-2',
              appearance === 'list' &&
                'min-h-11 items-start gap-3 rounded-lg py-2.5 has-focus-visible:outline-offset-0 sm:min-h-9 sm:py-1.5',
            )}
          >
            <input
              type="radio"
              value={option.value}
              defaultChecked={option.value === defaultValue}
              className="mt-1 size-4 shrink-0 focus-visible:outline-none"
              {...rest}
            />
            <span className="min-w-0">
              <span className={cn('block', appearance === 'cards' && 'font-medium')}>{option.label}</span>
              {option.description && (
                <span className="block text-ink-muted text-sm leading-5">{option.description}</span>
              )}
            </span>
          </label>
        ))}
      </div>
      {description}
    </fieldset>
  )
}

/**
 * React Hook Form takes the value of a group from the first input that it is given. The checked one has to come first, or a choice that
 * was made before React took over is lost.
 */
function useRegisteredRadios(register: RefCallback<HTMLInputElement> | undefined) {
  const group = useRef<HTMLFieldSetElement>(null)
  const registerNow = useRef(register)
  useLayoutEffect(() => {
    const give = registerNow.current
    if (!give) return
    const inputs = [...(group.current?.querySelectorAll('input') ?? [])]
    for (const input of inputs.toSorted((a, b) => Number(b.checked) - Number(a.checked))) give(input)
    return () => {
      give(null)
    }
  }, [])
  return group
}
