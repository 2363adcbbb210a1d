import { titled } from '@/app/page-title'
import { Unconfirmed } from '@/components/access/unconfirmed'
import { PageHeading } from '@/components/layout/page-heading'
import { Texts } from '@/components/layout/texts'
import { ExportDataForm } from '@/components/withdrawal/export-data-form'
import { waysToConfirm } from '@/domain/sessions/fresh-sign-in'
import { pageTexts, textsOf } from '@/server/pages/language'
import { openPage, type PageProps, toSignIn } from '@/server/pages/session'

export const generateMetadata = titled('YourData', 'title')

export default async function YourDataPage(props: PageProps) {
  const ctx = await openPage()
  const { unconfirmed, before } = await props.searchParams
  const isBeforeDeletion = before === 'deletion'
  if (!ctx) return toSignIn(isBeforeDeletion ? '/settings/data?before=deletion' : '/settings/data', props)
  const t = await pageTexts('YourData')
  const ways = await waysToConfirm(ctx, 'withdraw')
  const { userId, user } = ctx.actor
  return (
    <Texts texts={await textsOf(['YourData'])}>
      <PageHeading title={t('title')} description={t('description')} />
      <Unconfirmed reason={unconfirmed} provider={ways.provider} />
      <ExportDataForm userId={userId} email={user.email} ways={ways} isBeforeDeletion={isBeforeDeletion} />
    </Texts>
  )
}
