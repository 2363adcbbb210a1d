import { notFound } from 'next/navigation'
import { AccountDetail } from '@/components/admin/account-detail'
import { AdminPage } from '@/components/admin/admin-page'
import { noteLookUp } from '@/domain/accounts/note-look-up'
import { MAX_SESSIONS_COUNTED, watchAccount } from '@/domain/withdrawal/show-account'
import { accountOf, operatorContext, titleForOperators } from '../../for-operators'

export const generateMetadata = titleForOperators('Account')

export default async function AccountPage({ params }: { params: Promise<{ userId: string }> }) {
  const ctx = await operatorContext('/admin')
  const found = await watchAccount(ctx, (await params).userId)
  if (!found) notFound()
  await noteLookUp(ctx, { userId: found.user_id, actor: 'operator', actorId: ctx.actor.userId, ip: null })
  return (
    <AdminPage
      account={accountOf(ctx)}
      section={null}
      title="Account"
      description="What the service knows about one person's account."
    >
      <AccountDetail account={found} maxSessions={MAX_SESSIONS_COUNTED} />
    </AdminPage>
  )
}
