'use client'

import { FileText, Printer } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '../ui/alert'
import { Button } from '../ui/button'
import { Card, CardBody, CardHeader } from '../ui/card'
import { TextAreaField } from '../ui/field'
import { ReceiptLines } from './receipt-lines'
import { type Finding, type ReceiptKey, verifyReceipts } from './verify-receipts'

/** Everything happens in the browser: what is pasted is sent nowhere. */
export function ReceiptReader({ keys }: { keys: readonly ReceiptKey[] }) {
  const t = useTranslations('Receipts')
  const [text, setText] = useState('')
  const [findings, setFindings] = useState<Finding[]>([])
  const read = async (given: string) => {
    setText(given)
    setFindings(await verifyReceipts(given, keys))
  }
  return (
    <div className="space-y-6">
      <noscript className="block">
        <p>{t('noScript')}</p>
      </noscript>
      <Card className="print:hidden">
        <CardHeader title={t('inputTitle')} description={t('inputText')} />
        <CardBody className="space-y-4">
          <TextAreaField
            label={t('receipt')}
            hint={t('receiptHint')}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="none"
            value={text}
            onChange={(event) => read(event.target.value)}
          />
          <div className="flex flex-wrap items-center gap-3">
            <label className="inline-flex h-11 cursor-pointer items-center gap-2 rounded-lg border border-line-control px-4 font-medium has-focus-visible:outline-2 has-focus-visible:outline-accent sm:h-10">
              <FileText className="size-4" aria-hidden />
              {t('openFile')}
              <input
                type="file"
                accept="text/plain,.txt"
                className="sr-only"
                onChange={async (event) => {
                  const [file] = event.target.files ?? []
                  if (file) await read(await file.text())
                }}
              />
            </label>
            {findings.length > 0 && (
              <Button variant="quiet" onClick={() => window.print()}>
                <Printer className="size-4" aria-hidden /> {t('print')}
              </Button>
            )}
          </div>
        </CardBody>
      </Card>
      <div aria-live="polite" className="space-y-6">
        {findings.map((finding, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: one text may stand there twice, and the order is that of the text.
          <FindingCard key={index} finding={finding} />
        ))}
      </div>
    </div>
  )
}

function FindingCard({ finding }: { finding: Finding }) {
  const t = useTranslations('Receipts')
  switch (finding.state) {
    case 'genuine':
      return <ReceiptLines receipt={finding} />
    case 'unknown_key':
      return (
        <Alert
          tone="warning"
          title={t('unknownKeyTitle')}
          text={t.rich('unknownKeyText', { kid: finding.kid, code: (text) => <code dir="ltr">{text}</code> })}
        />
      )
    case 'changed':
      return <Alert tone="danger" title={t('changedTitle')} text={t('changedText')} />
    case 'no_receipt':
      return <Alert tone="danger" title={t('noReceiptTitle')} text={t('noReceiptText')} />
    case 'cannot_verify':
      return <Alert tone="warning" title={t('cannotTitle')} text={t('cannotText')} />
  }
}
