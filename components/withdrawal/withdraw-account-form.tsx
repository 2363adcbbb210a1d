'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { useForm, useWatch } from 'react-hook-form'
import type { Answer } from '@/contract/define'
import { ApiError, CONFIRMATION } from '@/contract/errors'
import { MAX_FEEDBACK_LENGTH, REASONS } from '@/contract/vocabulary'
import type { withdrawAccount } from '@/contract/withdrawal'
import { ConfirmIdentity, missingProof, needsPassword, type WaysToConfirm } from '../access/confirm-identity'
import { endSessionHere } from '../auth-calls'
import { fieldText } from '../error-text'
import { FormCard } from '../form-card'
import { call, rulesOf } from '../load-contract'
import { isTooOld, showError } from '../show-error'
import { signInAgain } from '../sign-in-again'
import { Button } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { CheckboxField, RadioField, TextAreaField, TextField } from '../ui/field'
import { useDraft } from '../use-draft'
import { type PendingTransaction, PendingTransactions } from './pending-transactions'
import type { WithdrawValues } from './withdraw-rules'

interface WithdrawAccountFormProps {
  userId: string
  email: string
  ways: WaysToConfirm
  pendingTransactions: readonly PendingTransaction[]
  retentionDays: number
  /** “7 days”: the time in which all steps should be done. */
  deletedWithin: string
}

const resolvers = {
  password: rulesOf<WithdrawValues>((rules) => rules.withdrawRules.password),
  none: rulesOf<WithdrawValues>((rules) => rules.withdrawRules.none),
}

const reasons = [
  { value: '', label: 'I would rather not say' },
  ...Object.entries(REASONS).map(([value, label]) => ({ value, label })),
]

export function WithdrawAccountForm({
  userId,
  email,
  ways,
  pendingTransactions,
  retentionDays,
  deletedWithin,
}: WithdrawAccountFormProps) {
  const router = useRouter()
  const queryClient = useQueryClient()
  // Without default values, what was typed before React took over stays in the fields.
  const asksPassword = needsPassword(ways)
  const form = useForm<WithdrawValues>({ resolver: asksPassword ? resolvers.password : resolvers.none })
  const isFilled = useDraft('withdraw', userId, form)
  const { errors } = form.formState
  const isOther = useWatch({ control: form.control, name: 'reason' }) === 'other'
  const [asking, setAsking] = useState(false)
  const withdraw = useMutation({
    mutationFn: async ({ current_password, ...body }: WithdrawValues) => {
      if (asksPassword) await signInAgain(userId, current_password ?? '')
      return call('withdrawAccount', { userId }, body).catch(explainLostAnswer)
    },
    onSuccess: async (answer) => {
      queryClient.clear()
      await leaveFor(answer)
    },
    onError: (error) => {
      // Closed first, because the dialog gives the focus back before the field with the fault takes it.
      flushSync(() => setAsking(false))
      showError(form, error)
      if (isHeldBack(error) || isTooOld(error)) router.refresh()
    },
  })
  const leaving = withdraw.isPending || withdraw.isSuccess

  if (pendingTransactions.length > 0)
    return <PendingTransactions transactions={pendingTransactions} takesFocus={isHeldBack(withdraw.error)} />

  return (
    <div>
      <FormCard
        title="Delete this account"
        description={
          <>
            The account of <span className="wrap-anywhere font-medium text-ink">{email}</span>
          </>
        }
        bodyClassName="space-y-7"
        error={errors.root?.message}
        note="Nothing happens yet: we ask once more."
        submit="Continue"
        onSubmit={form.handleSubmit(() => {
          const missing = missingProof(ways)
          if (missing) return form.setError('root', { type: 'answer', message: missing })
          setAsking(true)
        })}
      >
        <RadioField
          legend="Why are you leaving?"
          appearance="list"
          options={reasons}
          defaultValue=""
          error={fieldText(errors.reason)}
          {...form.register('reason', { deps: 'feedback' })}
        />
        <TextAreaField
          // Its counter begins with what is there when it is made.
          key={String(isFilled)}
          label="Feedback"
          hint={isOther ? 'Tell us your reason in a few words.' : 'Optional. What could we have done better?'}
          maxCharacters={MAX_FEEDBACK_LENGTH}
          defaultValue={form.getValues('feedback')}
          aria-required={isOther}
          error={fieldText(errors.feedback)}
          {...form.register('feedback')}
        />
        <fieldset className="min-w-0 space-y-4" aria-describedby="keep-hint">
          <legend className="font-medium">What should be kept?</legend>
          <p id="keep-hint" className="-mt-2.5 text-ink-muted text-sm leading-5">
            Nothing of this needs to stay. What you check is kept under a pseudonym for {retentionDays} days, then
            deleted; what you leave unchecked is deleted within {deletedWithin}.
          </p>
          <CheckboxField
            label="Analytics data"
            hint="Which functions were used, and when."
            {...form.register('data_retention.analytics')}
          />
          <CheckboxField
            label="Audit logs"
            hint="What was done in the account, and that messages and calls to applications were made; not their content."
            {...form.register('data_retention.audit_logs')}
          />
          <CheckboxField
            label="Transaction history"
            hint="Time, amount and state of each transaction."
            {...form.register('data_retention.transaction_history')}
          />
        </fieldset>
        <div className="space-y-5 border-line border-t pt-6">
          <TextField
            label="Confirmation"
            hint={
              <>
                Type <code className="font-medium font-mono text-ink">{CONFIRMATION}</code> to show that you mean it.
              </>
            }
            autoComplete="off"
            autoCapitalize="characters"
            autoCorrect="off"
            spellCheck={false}
            error={fieldText(errors.confirmation)}
            {...form.register('confirmation')}
          />
          <ConfirmIdentity
            userId={userId}
            email={email}
            purpose="withdraw"
            ways={ways}
            hint="So that nobody else can delete your account."
            values={form.getValues}
            password={{ error: fieldText(errors.current_password), ...form.register('current_password') }}
          />
        </div>
      </FormCard>
      <Dialog
        open={asking}
        busy={leaving}
        onClose={() => setAsking(false)}
        title="Delete my account for good?"
        description={
          <p>
            The account of <span className="font-medium text-ink">{email}</span> is switched off now. Its data is
            deleted within {deletedWithin}, except for what this page says is kept. There is no way back.
          </p>
        }
      >
        <Button variant="secondary" disabled={leaving} onClick={() => setAsking(false)}>
          Keep my account
        </Button>
        <Button variant="danger" pending={leaving} onClick={form.handleSubmit((values) => withdraw.mutate(values))}>
          Yes, delete my account
        </Button>
      </Dialog>
    </div>
  )
}

const isHeldBack = (error: unknown) => error instanceof ApiError && error.code === 'WITHDRAWAL_003'

function explainLostAnswer(error: unknown): never {
  if (!(error instanceof ApiError) || error.status !== 0) throw error
  const details =
    'The answer got lost, so the deletion may have begun; then a message with a link to its progress is on its way to you. If none comes, try again.'
  throw new ApiError('SERVER_002', details, 0)
}

const SIGN_OUT_MS = 2_000

/** The session has ended; signing out removes its cookie. The page is replaced so that the Back button does not show what was typed. */
async function leaveFor({ withdrawal_id, status_token }: Answer<typeof withdrawAccount>) {
  const signedOut = endSessionHere().catch(() => {})
  await Promise.race([signedOut, new Promise((resolve) => setTimeout(resolve, SIGN_OUT_MS))])
  window.location.replace(`/withdrawal/${withdrawal_id}#token=${status_token}`)
}
