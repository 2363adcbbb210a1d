'use client'

import type { ComponentProps, ReactNode, SubmitEventHandler } from 'react'
import { Button } from '../ui/button'
import { Card, CardBody, CardFooter } from '../ui/card'
import { CardHeader } from '../ui/card-header'
import { ErrorAlert, type Refusal } from '../ui/error-alert'
import { Form } from './form'
import { SlowHint } from './slow-hint'

interface FormCardProps extends ComponentProps<typeof CardHeader> {
  onSubmit: SubmitEventHandler<HTMLFormElement>
  /** The refusal that belongs to no field. */
  error: Refusal | undefined
  /** Stands beside the button. */
  note?: ReactNode
  submit: string
  isPending?: boolean
  /** The button deletes. */
  tone?: 'danger'
  children: ReactNode
}

/** A card that is one form: its fields, the refusal, and the button that sends it. */
export function FormCard({
  onSubmit,
  error,
  note,
  submit,
  isPending = false,
  tone,
  children,
  ...header
}: FormCardProps) {
  return (
    <Card className={tone && 'border-danger/45'}>
      <Form onSubmit={onSubmit}>
        <CardHeader {...header} />
        <CardBody className="space-y-5">
          {children}
          <ErrorAlert error={error} />
          <SlowHint isPending={isPending && !error} />
        </CardBody>
        <CardFooter>
          {note && <p className="text-ink-muted text-sm">{note}</p>}
          <Button type="submit" variant={tone} isPending={isPending} className="w-full sm:ms-auto sm:w-auto">
            {submit}
          </Button>
        </CardFooter>
      </Form>
    </Card>
  )
}
