import { AdminPage } from '@/components/admin/admin-page'
import { AppActions } from '@/components/admin/app-actions'
import { AppFacts } from '@/components/admin/app-facts'
import { DeliveryList } from '@/components/admin/delivery-list'
import { getApp } from '@/domain/applications/manage'
import { listDeliveries } from '@/domain/applications/operate-deliveries'
import { accountOf, operatorContext, orNotFound, titleForOperators } from '../../for-operators'

export const generateMetadata = titleForOperators('Application')

const SHOWN = 20

export default async function ApplicationPage({ params }: { params: Promise<{ appId: string }> }) {
  const ctx = await operatorContext('/admin/apps')
  const { appId } = await params
  const app = await getApp(ctx, { appId }).catch(orNotFound)
  const [recent, dead] = await Promise.all([
    listDeliveries(ctx, { appId, limit: SHOWN }),
    listDeliveries(ctx, { appId, status: 'dead', limit: SHOWN }),
  ])
  return (
    <AdminPage
      account={accountOf(ctx)}
      section="/admin/apps"
      isFirst={false}
      title={app.name}
      description={app.endpoint ?? 'It asks for its tasks and has no endpoint.'}
    >
      <div className="space-y-6">
        <AppFacts app={app} />
        <AppActions
          appId={appId}
          isDisabled={app.disabled_at !== null}
          hasEndpoint={app.endpoint !== null}
          deadLetters={app.deliveries.dead}
        />
        {dead.deliveries.length > 0 && <DeliveryList title="Dead letters" deliveries={dead.deliveries} />}
        <DeliveryList title="Recent deliveries" deliveries={recent.deliveries} />
      </div>
    </AdminPage>
  )
}
