import Link from 'next/link'
import type { listApps } from '@/contract/apps'
import type { Data } from '@/contract/define'
import { Badge } from '../ui/badge'
import { Card, CardBody } from '../ui/card'
import { textLink } from '../ui/text-link'
import { count } from './words'

export type App = Data<typeof listApps>['apps'][number]

export const AppList = ({ apps }: { apps: readonly App[] }) => (
  <Card>
    <CardBody>
      {apps.length === 0 ? (
        <p className="text-ink-muted">No application is registered. The operator command registers one.</p>
      ) : (
        <ul className="divide-y divide-line">
          {apps.map((app) => (
            <li key={app.app_id} className="space-y-1 py-4 first:pt-0 last:pb-0">
              <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
                <Link href={`/admin/apps/${app.app_id}`} className={textLink}>
                  {app.name}
                </Link>
                <AppBadges app={app} />
              </p>
              <p className="wrap-anywhere text-ink-muted text-sm">{app.endpoint ?? 'Asks for its tasks'}</p>
            </li>
          ))}
        </ul>
      )}
    </CardBody>
  </Card>
)

const AppBadges = ({ app: { disabled_at, deliveries, open_tasks } }: { app: App }) => (
  <>
    {disabled_at && <Badge tone="warning">Disabled</Badge>}
    {deliveries.dead > 0 && <Badge tone="danger">{count(deliveries.dead, 'dead letter')}</Badge>}
    {deliveries.waiting > 0 && <Badge>{count(deliveries.waiting, 'event')} waiting</Badge>}
    {open_tasks > 0 && <Badge>{count(open_tasks, 'open task')}</Badge>}
  </>
)
