import { CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { RECEIPT_ANSWERS, RECEIPT_KINDS } from '@/contract/vocabulary'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import { useCategoryTexts } from '../withdrawal/category-texts'
import type { Finding, ReadClaims } from './verify-receipts'

type Genuine = Extract<Finding, { state: 'genuine' }>

/** A genuine receipt in plain words, line by line. */
export function ReceiptLines({ receipt: { claims, kid, hash, follows } }: { receipt: Genuine }) {
  const t = useTranslations('Receipts')
  const kind = RECEIPT_KINDS.find((known) => known === claims.kind) ?? 'unknown'
  const answerText = (answer: string) => {
    const known = RECEIPT_ANSWERS.find((each) => each === answer)
    return known ? t(`answers.${known}`) : answer.replaceAll('_', ' ')
  }
  const { withdrawal, log } = claims
  return (
    <Card className="break-inside-avoid print:shadow-none">
      <CardHeader
        title={t(`kinds.${kind}.title`)}
        description={t(`kinds.${kind}.text`)}
        aside={
          <Badge tone="success">
            <CircleCheck aria-hidden /> {t('genuine')}
          </Badge>
        }
      />
      <CardBody>
        <dl className="divide-y divide-line">
          <IdLine name={t('signedBy')} id={claims.iss} />
          {claims.iat && (
            <Line name={t('signedAt')}>
              <LocalTime dateTime={new Date(claims.iat * 1000).toISOString()} format="exact" />
            </Line>
          )}
          <IdLine name={t('id')} id={claims.sub} />
          <TimeLine name={t('startedAt')} at={withdrawal?.started_at} />
          <TimeLine name={t('completedAt')} at={withdrawal?.completed_at} />
          <TimeLine name={t('dueBy')} at={withdrawal?.due_by} />
          <TimeLine name={t('purgeDueAt')} at={withdrawal?.purge_due_at} />
          <Counts claims={claims} />
          {claims.applications && claims.applications.length > 0 && (
            <Line name={t('apps')}>
              <ul className="space-y-1">
                {claims.applications.map(({ name, answer, at }, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: two may share a name, and the order never changes.
                  <li key={index}>
                    {t('appLine', { app: name, answer: answerText(String(answer)) })}
                    {at && (
                      <>
                        {' '}
                        (<LocalTime dateTime={at} format="exact" />)
                      </>
                    )}
                  </li>
                ))}
              </ul>
            </Line>
          )}
          {log && <Line name={t('log')}>{t.rich('logLine', { seq: log.seq, hash: log.hash, id })}</Line>}
          <Line name={t('previous')}>{t.rich(`previous${FOLLOWS[follows]}`, { hash: claims.previous ?? '', id })}</Line>
          <IdLine name={t('hash')} id={hash} />
          <IdLine name={t('key')} id={kid} />
        </dl>
      </CardBody>
    </Card>
  )
}

function Counts({ claims: { erased, retained } }: { claims: ReadClaims }) {
  const t = useTranslations('Receipts')
  const { countText, reasonText } = useCategoryTexts()
  return (
    <>
      {erased && erased.length > 0 && (
        <Line name={t('erased')}>
          <ul>
            {erased.map((count) => (
              <li key={count.category}>{countText(count)}</li>
            ))}
          </ul>
        </Line>
      )}
      {retained && retained.length > 0 && (
        <Line name={t('retained')}>
          <ul>
            {retained.map((count) => (
              <li key={`${count.category} ${count.reason}`}>
                {t.rich('retainedLine', {
                  what: countText(count),
                  why: reasonText(count.reason),
                  date: () => <LocalTime dateTime={count.until} format="date" />,
                })}
              </li>
            ))}
          </ul>
        </Line>
      )}
    </>
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
