'use client'

import { useMutation } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { PressError } from '../api/press-error'
import { Button } from '../ui/button'
import { Dialog } from '../ui/dialog'

interface ConfirmedButtonProps extends Pick<ComponentProps<typeof Button>, 'variant' | 'className'> {
  label: ReactNode
  /** The id of a text that distinguishes rows of the same name. */
  describedBy?: string
  question: string
  consequence: ReactNode
  keep: string
  confirm: string
  /** `primary` for an action that can be undone. */
  confirmVariant?: 'danger' | 'primary'
  /** Opens the dialog once, because the person comes back to it. */
  opensItself?: boolean
  act: () => Promise<unknown>
  /** Called when the dialog is closed, so that an announcement can take the focus. */
  onDone?: () => unknown
  /** Shows the refusal outside the dialog, which is closed by then. */
  onRefused?: (error: unknown) => unknown
  /** The text of a refusal. By default it comes from the catalogue. */
  errorText?: (error: unknown) => string
}

/** A button that asks before it ends something. The dialog shows a refusal and lets the person try again. */
export function ConfirmedButton({
  label,
  describedBy,
  variant = 'secondary',
  className,
  question,
  consequence,
  keep,
  confirm,
  confirmVariant = 'danger',
  opensItself = false,
  act,
  onDone,
  onRefused,
  errorText,
}: ConfirmedButtonProps) {
  const [isAsking, setAsking] = useState(false)
  useEffect(() => setAsking(opensItself), [opensItself])
  const close = () => flushSync(() => setAsking(false))
  const action = useMutation({
    mutationFn: act,
    onSuccess: () => {
      close()
      onDone?.()
    },
    onError: (error) => {
      if (!onRefused) return
      close()
      onRefused(error)
    },
  })

  return (
    <>
      <Button
        variant={variant}
        size="small"
        className={className}
        aria-describedby={describedBy}
        onClick={() => {
          action.reset()
          setAsking(true)
        }}
      >
        {label}
      </Button>
      <Dialog
        open={isAsking}
        isBusy={action.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() => action.mutate()}
        title={question}
        description={
          <>
            {consequence}
            <PressError className="mt-4" error={action.error} text={errorText} />
          </>
        }
      >
        <Button variant="secondary" disabled={action.isPending} onClick={() => setAsking(false)}>
          {keep}
        </Button>
        <Button type="submit" variant={confirmVariant} isPending={action.isPending}>
          {confirm}
        </Button>
      </Dialog>
    </>
  )
}
