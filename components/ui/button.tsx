'use client'

import type { VariantProps } from 'class-variance-authority'
import { LoaderCircle } from 'lucide-react'
import type { ComponentProps } from 'react'
import { buttonStyle } from './button-style'
import { cn } from './class-names'
import { useHydrated } from './use-hydrated'

interface ButtonProps extends ComponentProps<'button'>, VariantProps<typeof buttonStyle> {
  /** The action is on its way: the button keeps its place and size and takes no second press. */
  pending?: boolean
}

export function Button({
  className,
  variant,
  size,
  pending = false,
  disabled = false,
  onClick,
  children,
  ...rest
}: ButtonProps) {
  // Before its handler is attached a press would be lost, or send the form by the browser's own means.
  const hydrated = useHydrated()
  const isInert = disabled || pending
  return (
    <button
      type="button"
      className={cn(buttonStyle({ variant, size }), 'relative', className)}
      disabled={!hydrated}
      // With `disabled` it would drop the focus of the one who has just pressed it.
      aria-disabled={isInert || undefined}
      onClick={isInert ? (event) => event.preventDefault() : onClick}
      data-inactive={disabled || undefined}
      aria-busy={pending || undefined}
      {...rest}
    >
      {pending && <LoaderCircle className="absolute size-4 animate-spin" aria-hidden />}
      <span className={cn('inline-flex items-center gap-2', pending && 'opacity-0')}>{children}</span>
    </button>
  )
}
