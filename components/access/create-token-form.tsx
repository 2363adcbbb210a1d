'use client'

import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation } from '@tanstack/react-query'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { type Resolver, useForm } from 'react-hook-form'
import { z } from 'zod'
import { createAccessToken, tokenName } from '@/contract/access'
import { GRANTABLE_SCOPES } from '@/contract/define'
import { call } from '../api'
import { fieldText } from '../error-text'
import { isTooOld, showError } from '../show-error'
import { signInAgain } from '../sign-in-again'
import { Alert } from '../ui/alert'
import { Button } from '../ui/button'
import { Card, CardBody, CardFooter, CardHeader } from '../ui/card'
import { CheckboxField, FieldError, RadioField, TextField } from '../ui/field'
import { useFocusOnMount } from '../ui/use-focus-on-mount'
import { useDraft } from '../use-draft'
import { type NewAccessToken, scopeText } from './access-tokens'
import { ConfirmIdentity, missingProof, needsPassword, type WaysToConfirm } from './confirm-identity'

interface CreateTokenFormProps {
  userId: string
  email: string
  ways: WaysToConfirm
  /** When it comes back in answer to a press. */
  takesFocus: boolean
  onCreated: (token: NewAccessToken) => void
  onSettled: () => void
}

/** A box for each scope, as the browser keeps them; what was checked before React took over stays so. */
const tokenForm = z.object({
  name: z.string().min(1, 'Say in a few words what the token is for.').pipe(tokenName),
  scopes: z
    .partialRecord(z.enum(GRANTABLE_SCOPES), z.boolean())
    .refine((checked) => GRANTABLE_SCOPES.some((scope) => checked[scope]), 'Choose at least one.'),
  expires_in_days: z.enum(['7', '30', '90', '365']),
  current_password: z.string().optional(),
})
/** Where nothing else has shown who sits here. */
const withPassword = tokenForm.extend({ current_password: z.string().min(1, 'Enter your current password.') })
type Values = z.output<typeof tokenForm>

const resolvers = {
  password: zodResolver(withPassword) as unknown as Resolver<z.input<typeof tokenForm>, unknown, Values>,
  none: zodResolver(tokenForm),
}

const lifetimes = tokenForm.shape.expires_in_days.options.map((value) => ({ value, label: `${value} days` }))

export function CreateTokenForm({ userId, email, ways, takesFocus, onCreated, onSettled }: CreateTokenFormProps) {
  const heading = useFocusOnMount<HTMLHeadingElement>(takesFocus)
  const asksPassword = needsPassword(ways)
  const form = useForm({ resolver: asksPassword ? resolvers.password : resolvers.none, shouldFocusError: false })
  const router = useRouter()
  useDraft('token', userId, form)
  const { errors } = form.formState
  const create = useMutation({
    mutationFn: async ({ name, scopes, expires_in_days, current_password }: Values) => {
      if (asksPassword) await signInAgain(userId, current_password ?? '')
      return call(
        createAccessToken,
        { userId },
        {
          name,
          scopes: GRANTABLE_SCOPES.filter((scope) => scopes[scope]),
          expires_in_days: Number(expires_in_days),
        },
      )
    },
    // The answer holds the token, which no cache should keep.
    gcTime: 0,
    onSuccess: onCreated,
    onError: (error) => {
      showError(form, error)
      if (isTooOld(error)) router.refresh()
    },
    onSettled,
  })
  // Left alone, the form finds no field of the name `scopes` to go to.
  const focusFirst = ({ name, scopes }: typeof errors) =>
    form.setFocus(name ? 'name' : scopes ? `scopes.${GRANTABLE_SCOPES[0]}` : 'current_password')

  return (
    <Card>
      <form
        method="post"
        noValidate
        onSubmit={form.handleSubmit((values) => {
          const missing = missingProof(ways)
          if (missing) return form.setError('root', { type: 'answer', message: missing })
          create.mutate(values)
        }, focusFirst)}
      >
        <CardHeader
          title="New token"
          headingRef={heading}
          description={
            <>
              Give it no more than it needs. How programs use it is in the{' '}
              <Link href="/docs/api" className="font-medium text-accent underline underline-offset-3">
                API documentation
              </Link>
              .
            </>
          }
        />
        <CardBody className="space-y-6">
          <TextField
            label="Name"
            hint="What it is for, such as “Nightly export”."
            autoComplete="off"
            error={fieldText(errors.name)}
            {...form.register('name', { setValueAs: (text: string) => text.trim() })}
          />
          <fieldset className="min-w-0 space-y-1.5" aria-describedby={errors.scopes && 'scopes-error'}>
            <legend className="mb-2.5 font-medium">What it may do</legend>
            <div className="space-y-3.5">
              {GRANTABLE_SCOPES.map((scope) => (
                <CheckboxField
                  key={scope}
                  label={scopeText(scope)}
                  hint={<code className="font-mono text-[0.8125rem]">{scope}</code>}
                  {...form.register(`scopes.${scope}`, { deps: 'scopes' })}
                />
              ))}
            </div>
            <FieldError id="scopes-error">{fieldText(errors.scopes)}</FieldError>
          </fieldset>
          <RadioField
            legend="Works for"
            hint="Then it expires by itself. You can revoke it earlier."
            options={lifetimes}
            defaultValue="30"
            error={fieldText(errors.expires_in_days)}
            {...form.register('expires_in_days')}
          />
          <ConfirmIdentity
            userId={userId}
            email={email}
            purpose="token"
            ways={ways}
            hint="So that nobody else can make one in your name."
            values={form.getValues}
            password={{ error: fieldText(errors.current_password), ...form.register('current_password') }}
          />
          {errors.root && <Alert tone="danger" role="alert" title={errors.root.message} />}
        </CardBody>
        <CardFooter className="justify-end">
          <Button type="submit" pending={create.isPending} className="w-full sm:w-auto">
            Create token
          </Button>
        </CardFooter>
      </form>
    </Card>
  )
}
