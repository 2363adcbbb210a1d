'use client'

import { useMutation } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { flushSync } from 'react-dom'
import { errorText } from './error-text'
import { Alert } from './ui/alert'
import { Button } from './ui/button'
import { Dialog } from './ui/dialog'

interface ConfirmedButtonProps extends Pick<ComponentProps<typeof Button>, 'variant' | 'className'> {
  label: ReactNode
  /** The id of the text that tells this row from one of the same name. */
  describedBy?: string
  question: string
  consequence: ReactNode
  keep: string
  confirm: string
  act: () => Promise<unknown>
  /** The dialog is closed by then, so that what tells the outcome can take the focus. */
  onDone?: () => unknown
  /** Where the refusal is said elsewhere; the dialog is closed by then too. */
  onRefused?: (error: unknown) => unknown
}

/** A button that asks before it ends something. A refusal is said in the dialog, where it can be tried again. */
export function ConfirmedButton({
  label,
  describedBy,
  variant = 'secondary',
  className,
  question,
  consequence,
  keep,
  confirm,
  act,
  onDone,
  onRefused,
}: ConfirmedButtonProps) {
  const [asking, setAsking] = useState(false)
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
        open={asking}
        busy={action.isPending}
        onClose={() => setAsking(false)}
        title={question}
        description={
          <>
            {consequence}
            {action.error && <Alert tone="danger" role="alert" title={errorText(action.error)} className="mt-4" />}
          </>
        }
      >
        <Button variant="secondary" disabled={action.isPending} onClick={() => setAsking(false)}>
          {keep}
        </Button>
        <Button variant="danger" pending={action.isPending} onClick={() => action.mutate()}>
          {confirm}
        </Button>
      </Dialog>
    </>
  )
}
