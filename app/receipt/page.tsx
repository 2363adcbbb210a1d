import { titled } from '@/app/page-title'
import { ColumnPage } from '@/components/layout/page'
import { Texts } from '@/components/layout/texts'
import { ReceiptReader } from '@/components/receipt/receipt-reader'
import { publishedKeys } from '@/domain/withdrawal/receipts/signing-keys'
import { unlessAway } from '@/server/pages/away'
import { textsOf } from '@/server/pages/language'
import { accountOf, sessionIfReadable } from '@/server/pages/session'
import { getEnv } from '@/server/settings/env'
import { systemContext } from '@/server/system-context'

export const generateMetadata = titled('Receipts', 'title', { referrer: 'no-referrer' })

export const dynamic = 'force-dynamic'

export default async function ReceiptPage() {
  const session = await sessionIfReadable()
  // Without a key the page says that it cannot tell, and to reload it.
  const { keys } = await unlessAway(publishedKeys(systemContext()), { keys: [] })
  return (
    <ColumnPage account={session && accountOf(session)} className="max-w-3xl">
      <Texts texts={await textsOf(['Deletion', 'Receipts'])}>
        <ReceiptReader keys={keys.map(({ kid, x }) => ({ kid, x }))} ownIssuer={getEnv().appUrl} />
      </Texts>
    </ColumnPage>
  )
}
