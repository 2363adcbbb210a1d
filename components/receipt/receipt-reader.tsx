'use client'

import { FileText } from 'lucide-react'
import { type ComponentProps, useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { useBrand } from '../layout/brand'
import { PageHeading } from '../layout/page-heading'
import { Card } from '../ui/card'
import { Disclosure } from '../ui/disclosure'
import { TextAreaField } from '../ui/field'
import { HeadedAlert } from '../ui/headed-alert'
import { type Genuine, ReceiptCard } from './receipt-lines'
import { type Finding, type ReceiptKey, verifyReceipts } from './verify-receipts'

/** Everything happens in the browser: what is pasted is sent nowhere. */
export function ReceiptReader({ keys, ownIssuer }: { keys: readonly ReceiptKey[]; ownIssuer: string }) {
  const t = useTranslations('Receipts')
  const { name: product } = useBrand()
  const [text, setText] = useState('')
  const [findings, setFindings] = useState<Finding[]>([])
  const newest = useRef('')
  const read = async (given: string) => {
    newest.current = given
    setText(given)
    const found = await verifyReceipts(given, keys)
    // The last receipt of a file says the most.
    const shown = found.toReversed()
    // A long text may be verified after a shorter one that has taken its place.
    if (newest.current === given) setFindings(shown)
  }
  /** The progress page has led here with the receipts of its deletion. */
  const [isLinked, setLinked] = useState(false)
  const readOnce = useRef(read)
  useEffect(() => {
    const { hash } = window.location
    if (!hash.startsWith('#eyJ')) return
    setLinked(true)
    void readOnce.current(hash.slice(1).replaceAll('~', '\n'))
  }, [])
  const title = t(isLinked ? 'yours' : 'title')
  useEffect(() => {
    document.title = `${title} · ${product}`
  }, [title, product])
  const genuine = findings.filter((finding) => finding.state === 'genuine')
  const isProvenDone = genuine.some(({ claims }) => claims.kind !== 'acceptance')
  // The newest of a deletion says all that those before it said.
  const [first, ...others] = genuine
  const earlier: Genuine[] = others.filter(({ claims }) => claims.sub !== undefined && claims.sub === first?.claims.sub)
  const card = (finding: Finding, index: number) => (
    <FindingCard
      key={index}
      {...{ finding, ownIssuer, isProvenDone }}
      earlier={finding === first ? earlier : []}
      takesFocus={finding === first && genuine.length === findings.length}
    />
  )
  return (
    <div className="space-y-6">
      <PageHeading title={title} description={isLinked ? undefined : t('description')} />
      <noscript className="block">
        <p>{t('noScript')}</p>
      </noscript>
      <div aria-live="polite" className="space-y-6 empty:hidden">
        {findings.length - earlier.length > 1 && (
          <p className="font-medium print:hidden">
            {t(genuine.length === findings.length ? 'severalGenuine' : 'several', {
              count: findings.length,
              genuine: genuine.length,
            })}
          </p>
        )}
        {findings.filter((finding) => !earlier.some((one) => one === finding)).map(card)}
      </div>
      {genuine.length > 0 && (
        <p className="hidden text-sm print:block">{t('checkAt', { url: `${ownIssuer}/receipt` })}</p>
      )}
      <Card className="print:hidden">
        <Disclosure open={!first} summary={t('another')} isSummaryHidden={!first} className="px-card py-3 sm:px-6">
          <div className="space-y-4 py-3">
            <TextAreaField
              label={t('receipt')}
              hint={t('inputText')}
              spellCheck={false}
              autoComplete="off"
              autoCapitalize="none"
              value={text}
              onChange={(event) => read(event.target.value)}
            />
            <label className="inline-flex h-11 cursor-pointer items-center gap-2 rounded-lg border border-line-control px-4 font-medium has-focus-visible:outline-2 has-focus-visible:outline-accent sm:h-10">
              <FileText className="size-4" aria-hidden />
              {t('openFile')}
              <input
                type="file"
                accept="text/plain,.txt,.jws"
                className="sr-only"
                onChange={async (event) => {
                  const [file] = event.target.files ?? []
                  if (file) await read(await file.text())
                }}
              />
            </label>
          </div>
        </Disclosure>
      </Card>
    </div>
  )
}

function FindingCard({
  finding,
  ...props
}: Omit<ComponentProps<typeof ReceiptCard>, 'receipt'> & { finding: Finding }) {
  const t = useTranslations('Receipts')
  switch (finding.state) {
    case 'genuine':
      return <ReceiptCard receipt={finding} {...props} />
    case 'unknown_key':
      return (
        <HeadedAlert
          tone="warning"
          title={t('unknownKeyTitle')}
          text={t.rich('unknownKeyText', { kid: finding.kid, code: (text) => <code dir="ltr">{text}</code> })}
        />
      )
    case 'changed':
      return <HeadedAlert tone="danger" title={t('changedTitle')} text={t('changedText')} />
    case 'no_receipt':
      return <HeadedAlert tone="danger" title={t('noReceiptTitle')} text={t('noReceiptText')} />
    case 'cannot_verify':
      return <HeadedAlert tone="warning" title={t('cannotTitle')} text={t('cannotText')} />
  }
}
