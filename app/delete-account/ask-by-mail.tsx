import { MailCheck } from 'lucide-react'
import { Alert } from '@/components/ui/alert'
import { bold } from '@/components/ui/bold'
import { buttonStyle } from '@/components/ui/button-style'
import { Card, CardBody } from '@/components/ui/card'
import { EmailField } from '@/components/ui/field'
import { linkTo } from '@/components/ui/link-to'
import { MAX_ADDRESS_LENGTH } from '@/contract/address'
import { type OUTCOMES, typedAddress } from '@/server/pages/ask-for-deletion'
import { pageTexts } from '@/server/pages/language'

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

/** Explains how to ask, and shows the form. The answer is the same for every address. */
export async function AskByMail({ outcome, isAgain, isSignedIn, language }: AskByMailProps) {
  const t = await pageTexts('DeletionPage')
  const typed = outcome || isAgain ? await typedAddress() : undefined
  if (outcome === 'sent') return <Sent language={language} typed={typed} />
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

async function Sent({ language, typed }: { language: string; typed: string | undefined }) {
  const t = await pageTexts('DeletionPage')
  return (
    <Card className="space-y-2 p-card sm:p-6">
      <span className="grid size-11 place-items-center rounded-full bg-accent-soft text-accent">
        <MailCheck className="size-5" aria-hidden />
      </span>
      {/* Without a script nothing else tells a screen reader what has come. */}
      {/* biome-ignore lint/a11y/noAutofocus: it is the answer to the form */}
      <h2 tabIndex={-1} autoFocus className="pt-3 font-semibold text-xl leading-7 tracking-[-0.02em] outline-none">
        {t('sentTitle')}
      </h2>
      {typed && <p className="text-ink-muted">{t.rich('typed', { email: () => bold(typed) })}</p>}
      <p className="text-ink-muted">{t('sentText')}</p>
      <p className="text-ink-muted text-sm">{t('sentHint')}</p>
      <p className="pt-3">
        <a
          href={`/delete-account?again=1&language=${language}#request`}
          className={buttonStyle({ variant: 'secondary', className: 'w-full sm:w-auto' })}
        >
          {t('again')}
        </a>
      </p>
    </Card>
  )
}
