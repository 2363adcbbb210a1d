'use client'

import { useMutation, useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useTranslations } from 'use-intl/react'
import { RECEIPT_FILE } from '@/contract/vocabulary'
import { PressError } from '../api/press-error'
import { useHost } from '../host/host'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { Card, CardBody } from '../ui/card'
import { CardHeader } from '../ui/card-header'
import { NewTab } from '../ui/new-tab'
import { saveFile } from '../ui/save-file'

interface SaveReceiptsProps {
  withdrawalId: string
  token: string
  /** The receipts name the applications. */
  hasApplications: boolean
}

/** The signed receipts, a line each. Nothing is read without a token. */
export function useReceipts(withdrawalId: string, token: string | null | undefined) {
  const { callWith } = useHost()
  return useQuery({
    // As of the progress: another link does not show what this one could read.
    queryKey: ['receipts', withdrawalId, token],
    queryFn: async () => {
      const { receipts } = await callWith(() => token ?? '', 'listReceipts', { withdrawalId })
      return receipts.map(({ receipt }) => `${receipt}\n`)
    },
    enabled: Boolean(token),
    retry: false,
  })
}

/** Offers the signed receipts as one file. */
export function SaveReceipts({ withdrawalId, token, hasApplications }: SaveReceiptsProps) {
  const t = useTranslations('Deletion')
  const { receiptPage } = useHost()
  const { data: lines, refetch } = useReceipts(withdrawalId, token)
  const save = useMutation({
    async mutationFn() {
      const { data = [] } = await refetch({ throwOnError: true })
      saveFile(new Blob(data, { type: RECEIPT_FILE.type }), RECEIPT_FILE.finalName)
    },
  })
  return (
    <Card>
      <CardHeader title={t('receiptTitle')} description={t('receiptText')} />
      <CardBody className="space-y-4">
        <PressError error={save.error} />
        <div className="flex flex-wrap items-center gap-3">
          <a
            // No server sees a fragment, and the page reads the receipts in it.
            href={`${receiptPage}#${lines?.join('').trim().replaceAll('\n', '~') ?? ''}`}
            target="_blank"
            rel="noreferrer"
            className={buttonStyle({ className: 'w-full sm:w-auto' })}
          >
            <span>
              {t('receiptCheck')}
              <NewTab />
            </span>
          </a>
          <Button
            variant="secondary"
            className="w-full sm:w-auto"
            isPending={save.isPending}
            onClick={() => save.mutate()}
          >
            <Download className="size-4" aria-hidden /> {t('receiptSave')}
          </Button>
        </div>
        {hasApplications && <p className="text-ink-muted text-sm">{t('receiptHint')}</p>}
      </CardBody>
    </Card>
  )
}
