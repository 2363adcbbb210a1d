import { AdminPage } from '@/components/admin/admin-page'
import { AppList } from '@/components/admin/app-list'
import { listApps } from '@/domain/applications/manage'
import { accountOf, operatorContext, titleForOperators } from '../for-operators'

export const generateMetadata = titleForOperators('Applications')

export default async function ApplicationsPage() {
  const ctx = await operatorContext('/admin/apps')
  const { apps } = await listApps(ctx)
  return (
    <AdminPage
      account={accountOf(ctx)}
      section="/admin/apps"
      title="Applications"
      description="Which systems hear of changes and withdrawals, and what waits for them."
    >
      <AppList apps={apps} />
    </AdminPage>
  )
}
