'use client'

import { useRouter } from 'next/navigation'
import { useState, useTransition } from 'react'
import { Alert } from '../ui/alert'
import { Button } from '../ui/button'
import { Card, CardBody, CardFooter } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import { useFocusOnMount } from '../ui/use-focus-on-mount'

export interface PendingTransaction {
  id: string
  description: string
  createdAt: string
}

interface PendingTransactionsProps {
  transactions: readonly PendingTransaction[]
  /** True when it appears after a press. */
  takesFocus: boolean
}

export function PendingTransactions({ transactions, takesFocus }: PendingTransactionsProps) {
  const router = useRouter()
  const [checking, startChecking] = useTransition()
  const [checked, setChecked] = useState(false)
  const words = useFocusOnMount<HTMLDivElement>(takesFocus)
  const one = transactions.length === 1
  return (
    <Card aria-labelledby="pending-transactions">
      <CardBody className="space-y-5 sm:pt-6">
        <div ref={words} tabIndex={-1} className="scroll-mt-6 rounded-xl outline-none">
          <Alert
            tone="warning"
            title={
              <span id="pending-transactions">
                {one ? 'A transaction is still pending' : `${transactions.length} transactions are still pending`}
              </span>
            }
          >
            <p>
              Your account cannot be deleted before {one ? 'it is' : 'they are'} settled or cancelled. Do that where you
              made {one ? 'it' : 'them'}, or wait until {one ? 'it goes' : 'they go'} through, then check again.
            </p>
          </Alert>
        </div>
        <ul className="divide-y divide-line">
          {transactions.map(({ id, description, createdAt }) => (
            <li key={id} className="flex flex-wrap items-baseline justify-between gap-x-6 py-3 first:pt-0 last:pb-0">
              <div className="min-w-0">
                <p className="wrap-anywhere font-medium">{description}</p>
                <p className="wrap-anywhere font-mono text-ink-muted text-xs leading-5">{id}</p>
              </div>
              <p className="text-ink-muted text-sm">
                <LocalTime dateTime={createdAt} />
              </p>
            </li>
          ))}
        </ul>
      </CardBody>
      <CardFooter>
        <p className="text-ink-muted text-sm" role="status">
          {checked && !checking && 'Still pending, checked just now.'}
        </p>
        <Button
          variant="secondary"
          className="w-full sm:w-auto"
          pending={checking}
          onClick={() =>
            startChecking(() => {
              router.refresh()
              setChecked(true)
            })
          }
        >
          Check again
        </Button>
      </CardFooter>
    </Card>
  )
}
