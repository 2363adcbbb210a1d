import { AdminPage } from '@/components/admin/admin-page'
import { AppActions } from '@/components/admin/app-actions'
import { DeliveryTable } from '@/components/admin/delivery-table'
import { EventCounts } from '@/components/admin/drawn'
import { Facts } from '@/components/admin/facts'
import { Part } from '@/components/admin/part'
import { app as contract } from '@/contract/apps'
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
      <Part title="Settings" description={app.disabled_at && 'Disabled: it gets no messages.'}>
        <Facts
          of={contract}
          row={app}
          fields={{
            app_id: true,
            audience: true,
            acknowledges: true,
            phase: true,
            events: true,
            includes: ({ includes }) => (includes.includes('addresses') ? 'Yes' : 'No'),
            checks: true,
            deliveries: ({ deliveries }) => <EventCounts of={deliveries} />,
            open_tasks: true,
            previous_secret_until: true,
          }}
        />
      </Part>
      <AppActions
        appId={appId}
        isDisabled={app.disabled_at !== null}
        hasEndpoint={app.endpoint !== null}
        givenUp={app.deliveries.dead}
      />
      {dead.deliveries.length > 0 && <DeliveryTable title="Events given up" deliveries={dead.deliveries} />}
      <DeliveryTable title="Recent events" deliveries={recent.deliveries} />
    </AdminPage>
  )
}
