'use client'

import { LoaderCircle } from 'lucide-react'
import type { ComponentProps } from 'react'
import { type ButtonLook, buttonStyle } from './button-style'
import { cn } from './class-names'
import { useHydrated } from './use-hydrated'

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'>, ButtonLook {
  /** The action is running: the button keeps its place and size and ignores further presses. */
  isPending?: boolean
}

export function Button({
  className,
  variant,
  size,
  isPending = false,
  disabled = false,
  onClick,
  children,
  ...rest
}: ButtonProps) {
  // Before hydration a press would be lost, or the browser would submit the form itself.
  const hydrated = useHydrated()
  const isInert = disabled || isPending
  return (
    <button
      type="button"
      className={buttonStyle({ variant, size, className: cn('relative', className) })}
      disabled={!hydrated}
      // Not `disabled` after hydration, because that would drop the focus of the pressed button.
      aria-disabled={isInert || undefined}
      onClick={isInert ? (event) => event.preventDefault() : onClick}
      data-inactive={disabled || undefined}
      aria-busy={isPending || undefined}
      {...rest}
    >
      {isPending && <LoaderCircle className="absolute size-4 animate-spin" aria-hidden />}
      <span className={cn('inline-flex items-center gap-2', isPending && 'opacity-0')}>{children}</span>
    </button>
  )
}
