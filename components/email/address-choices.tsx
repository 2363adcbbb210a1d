'use client'

import { useTranslations } from 'use-intl/react'
import { preloadContract } from '../api/load-contract'
import { PressError } from '../api/press-error'
import { Button } from '../ui/button'
import { CardFooter } from '../ui/card'
import { useFocusOnMount } from '../ui/use-focus-on-mount'
import { type OwnAddress, useVerifyOwn } from './use-verify-own'

interface AddressChoicesProps extends OwnAddress {
  /** The address is not verified, or its mailbox takes no mail. */
  needsProof: boolean
  /** The form was closed, so that its button is gone. */
  takesFocus: boolean
  onAsk: (what: 'change' | 'verification') => void
}

/** What a person can do about the address. */
export function AddressChoices({ needsProof, takesFocus, onAsk, ...own }: AddressChoicesProps) {
  const t = useTranslations('EmailSettings')
  const { send, sendWith } = useVerifyOwn(own)
  const change = useFocusOnMount<HTMLButtonElement>(takesFocus)
  const asksFirst = own.ways.hasPassword || !own.ways.confirmedUntil
  return (
    <CardFooter className="justify-end">
      <PressError error={send.error} />
      {needsProof && (
        <Button
          className="w-full sm:w-auto"
          isPending={send.isPending}
          onFocus={preloadContract}
          onClick={() => (asksFirst ? onAsk('verification') : sendWith())}
        >
          {t('verifyOwn')}
        </Button>
      )}
      <Button ref={change} variant="secondary" className="w-full sm:w-auto" onClick={() => onAsk('change')}>
        {t('changeTitle')}
      </Button>
    </CardFooter>
  )
}
