import { CircleAlert, CircleCheck, Printer } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { RECEIPT_ANSWERS, RECEIPT_KINDS } from '@/contract/vocabulary'
import { useBrand } from '../layout/brand'
import { Button } from '../ui/button'
import { Card, CardBody } from '../ui/card'
import { Disclosure } from '../ui/disclosure'
import { LocalTime } from '../ui/local-time'
import { useFocusOnMount } from '../ui/use-focus-on-mount'
import { useCategoryTexts } from '../withdrawal/category-texts'
import type { Finding, ReadClaims } from './verify-receipts'

export type Genuine = Extract<Finding, { state: 'genuine' }>

interface LinesProps {
  receipt: Genuine
  /** The `iss` of this service's own receipts, which carry its name. */
  ownIssuer: string
  /** Another receipt beside it says that the deletion was done. */
  isProvenDone: boolean
  /** The first one takes the focus, because the field that was filled is folded then. */
  takesFocus: boolean
}

/** A genuine receipt, and those before it of the same deletion, folded. */
export function ReceiptCard({ earlier, ...props }: LinesProps & { earlier: readonly Genuine[] }) {
  const t = useTranslations('Receipts')
  return (
    <Card className="print:shadow-none">
      <CardBody className="space-y-5">
        <Lines {...props} />
        {earlier.length > 0 && (
          <Disclosure summary={t('earlier', { count: earlier.length })} isPrinted>
            <div className="space-y-8 border-line border-s ps-4 pt-2">
              {earlier.map((receipt) => (
                <div key={receipt.hash} className="space-y-5">
                  <Lines {...props} receipt={receipt} takesFocus={false} />
                </div>
              ))}
            </div>
          </Disclosure>
        )}
        <Button variant="secondary" className="w-full sm:w-auto print:hidden" onClick={() => window.print()}>
          <Printer className="size-4" aria-hidden /> {t('print')}
        </Button>
      </CardBody>
    </Card>
  )
}

/** Its verdict in a sentence, what it says in plain words, and its technical lines folded. */
function Lines({ receipt, ownIssuer, isProvenDone, takesFocus }: LinesProps) {
  const t = useTranslations('Receipts')
  const verdict = useFocusOnMount<HTMLDivElement>(takesFocus)
  const { claims } = receipt
  const unconfirmed = (claims.applications ?? []).filter(({ answer }) => answer === 'waived')
  const isWhole = unconfirmed.length === 0
  const Icon = isWhole ? CircleCheck : CircleAlert
  return (
    <>
      <div ref={verdict} tabIndex={-1} className="flex items-start gap-3 outline-none">
        <Icon className={`mt-0.5 size-6 shrink-0 ${isWhole ? 'text-success' : 'text-warning'}`} aria-hidden />
        <h2 className="wrap-anywhere min-w-0 flex-1 text-pretty font-semibold text-lg leading-7">
          <Verdict claims={claims} ownIssuer={ownIssuer} unconfirmed={unconfirmed.length} />
        </h2>
      </div>
      {claims.kind === 'acceptance' && !isProvenDone && <p className="text-ink-muted">{t('acceptanceText')}</p>}
      <dl className="divide-y divide-line">
        <Contents claims={claims} />
        <IdLine name={t('id')} id={claims.sub} />
      </dl>
      <Disclosure summary={t('technical')} isPrinted>
        <TechnicalLines receipt={receipt} />
      </Disclosure>
    </>
  )
}

interface VerdictProps {
  claims: ReadClaims
  ownIssuer: string
  unconfirmed: number
}

/** The whole receipt in one sentence. */
function Verdict({ claims, ownIssuer, unconfirmed: count }: VerdictProps) {
  const t = useTranslations('Receipts')
  const { name } = useBrand()
  const { kind, iss = '', iat = 0, withdrawal } = claims
  const issuer = iss === ownIssuer ? name : (URL.canParse(iss) && new URL(iss).host) || iss
  const known = RECEIPT_KINDS.find((each) => each === kind) ?? 'unknown'
  const at = (known === 'completion' && withdrawal?.completed_at) || new Date(iat * 1000).toISOString()
  const date = () => <LocalTime dateTime={at} format="date" />
  const sentence = t.rich(`verdicts.${known}`, { issuer, date })
  return count > 0 ? (
    <>
      {sentence} {t('unconfirmed', { count })}
    </>
  ) : (
    sentence
  )
}

function Contents({ claims: { erased = [], retained = [], applications = [] } }: { claims: ReadClaims }) {
  const t = useTranslations('Receipts')
  const { peoplesText, keptCounts } = useCategoryTexts()
  const answerText = (answer: string) => {
    const known = RECEIPT_ANSWERS.find((each) => each === answer)
    return known ? t(`answers.${known}`) : answer.replaceAll('_', ' ')
  }
  return (
    <>
      {erased.length > 0 && (
        <Line name={t('erased')}>
          <p className="first-letter:uppercase">{peoplesText(erased)}</p>
        </Line>
      )}
      {retained.length > 0 && (
        <Line name={t('retained')}>
          {keptCounts(retained).map(({ what, until }) => (
            <p key={what}>
              {t.rich('retainedLine', { what, date: () => <LocalTime dateTime={until} format="date" /> })}
            </p>
          ))}
          {retained.some(({ category }) => category === 'transaction_logs') && (
            <p className="text-ink-muted text-sm">{t('paymentsNote')}</p>
          )}
          <p className="mt-2 text-ink-muted text-sm">{t('keptToo')}</p>
        </Line>
      )}
      {applications.length > 0 && (
        <Line name={t('apps')}>
          <ul className="space-y-1">
            {applications.map(({ name, answer, at }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two may share a name, and the order never changes.
              <li key={index}>
                {t('appLine', { app: name, answer: answerText(String(answer)) })}
                {at && (
                  <>
                    {' '}
                    <span className="inline-block">
                      (<LocalTime dateTime={at} format="date" />)
                    </span>
                  </>
                )}
              </li>
            ))}
          </ul>
        </Line>
      )}
    </>
  )
}

/** For whoever checks the receipt by other means: every time, number and fingerprint. */
function TechnicalLines({ receipt: { claims, kid, hash, follows } }: { receipt: Genuine }) {
  const t = useTranslations('Receipts')
  const { withdrawal, log, iat, iss, erased = [], retained = [] } = claims
  return (
    <dl className="divide-y divide-line">
      <IdLine name={t('signedBy')} id={iss} />
      <TimeLine name={t('signedAt')} at={iat ? new Date(iat * 1000).toISOString() : undefined} />
      <TimeLine name={t('startedAt')} at={withdrawal?.started_at} />
      <TimeLine name={t('completedAt')} at={withdrawal?.completed_at} />
      <TimeLine name={t('dueBy')} at={withdrawal?.due_by} />
      <TimeLine name={t('purgeDueAt')} at={withdrawal?.purge_due_at} />
      <CountLine name={t('counts')} counts={erased} />
      <CountLine name={t('countsKept')} counts={retained} />
      {log && <Line name={t('log')}>{t.rich('logLine', { seq: log.seq, hash: log.hash, id })}</Line>}
      <Line name={t('previous')}>{t.rich(`previous${FOLLOWS[follows]}`, { hash: claims.previous ?? '', id })}</Line>
      <IdLine name={t('hash')} id={hash} />
      <IdLine name={t('key')} id={kid} />
    </dl>
  )
}

function CountLine({ name, counts }: { name: string; counts: NonNullable<ReadClaims['erased']> }) {
  const { countText } = useCategoryTexts()
  return (
    counts.length > 0 && (
      <Line name={name}>
        <ul>
          {counts.map((count, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a category may be erased in part, and the order never changes.
            <li key={index} className="first-letter:uppercase">
              {countText(count)}
            </li>
          ))}
        </ul>
      </Line>
    )
  )
}

const FOLLOWS = { first: 'None', shown: 'Shown', not_shown: 'NotShown' } as const

const TimeLine = ({ name, at }: { name: string; at: string | undefined }) =>
  at && (
    <Line name={name}>
      <LocalTime dateTime={at} format="exact" />
    </Line>
  )

const id = (text: ReactNode) => <bdi>{text}</bdi>

const IdLine = ({ name, id: shown }: { name: string; id: string | undefined }) => <Line name={name}>{id(shown)}</Line>

const Line = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="grid break-inside-avoid gap-x-6 gap-y-0.5 py-2.5 sm:grid-cols-[14rem_1fr] print:py-1.5">
    <dt className="text-ink-muted">{name}</dt>
    <dd className="wrap-anywhere min-w-0">{children}</dd>
  </div>
)
