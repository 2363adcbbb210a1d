import { Alert } from '@/components/ui/alert'
import { buttonStyle } from '@/components/ui/button-style'
import { Card, CardBody } from '@/components/ui/card'
import { EmailField } from '@/components/ui/field'
import { linkTo } from '@/components/ui/link-to'
import { MAX_ADDRESS_LENGTH } from '@/contract/address'
import { type OUTCOMES, typedAddress } from '@/server/pages/ask-for-deletion'
import { pageTexts } from '@/server/pages/language'
import { RequestSent } from './request-sent'

interface AskByMailProps {
  /** The outcome of the form, if it was sent. */
  outcome: (typeof OUTCOMES)[number] | undefined
  /** The form comes back with what was typed. */
  isAgain: boolean
  isSignedIn: boolean
  language: string
}

const PROBLEMS = { malformed: 'malformed', limited: 'tooMany', failed: 'failed' } as const

async function problemText(outcome: Exclude<AskByMailProps['outcome'], 'sent' | undefined>, typed: string | undefined) {
  if (outcome !== 'incomplete') return (await pageTexts('DeletionPage'))(PROBLEMS[outcome])
  return typed ? (await pageTexts('Errors'))('rules.incompleteEmail') : (await pageTexts('SignIn'))('emailMissing')
}

/** Explains how to ask, and shows the form. */
export async function AskByMail({ outcome, isAgain, isSignedIn, language }: AskByMailProps) {
  const t = await pageTexts('DeletionPage')
  const typed = outcome || isAgain ? await typedAddress() : undefined
  if (outcome === 'sent') return <RequestSent language={language} typed={typed} />
  const error = outcome && (await problemText(outcome, typed))
  return (
    <Card>
      <CardBody className="space-y-5">
        <form id="request" method="post" action="/api/delete-account" noValidate className="scroll-mt-6 space-y-4">
          <input type="hidden" name="language" value={language} />
          <EmailField
            label={t('email')}
            name="email"
            type="email"
            required
            maxLength={MAX_ADDRESS_LENGTH}
            autoComplete="email"
            defaultValue={typed}
            autoFocus={outcome !== undefined && outcome !== 'failed'}
            {...(outcome !== 'failed' && { error })}
          />
          {outcome === 'failed' && <Alert tone="danger" role="alert" title={error} />}
          <button type="submit" className={buttonStyle({ className: 'w-full sm:w-auto' })}>
            {t('send')}
          </button>
        </form>
        <ol aria-label={t('howTitle')} className="list-decimal space-y-1 ps-5 text-ink-muted">
          <li>{t('stepAsk')}</li>
          <li>{t('stepOpen')}</li>
          <li>{t('stepConfirm')}</li>
        </ol>
        <noscript className="block text-ink-muted text-sm">{t('linkNeedsScript')}</noscript>
        <div className="space-y-1 text-ink-muted text-sm">
          <p>{t.rich(isSignedIn ? 'copySignedIn' : 'copy', { link: linkTo('/settings/data?before=deletion') })}</p>
          {!isSignedIn && <p>{t.rich('signIn', { link: linkTo('/settings/withdraw') })}</p>}
        </div>
      </CardBody>
    </Card>
  )
}
