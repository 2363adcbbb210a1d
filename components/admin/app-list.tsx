import type { listApps } from '@/contract/apps'
import type { Data } from '@/contract/define'
import { Badge } from '../ui/badge'
import { Card, CardBody } from '../ui/card'
import { AppLink } from './links'
import { Row, RowList } from './section'
import { count } from './words'

export type App = Data<typeof listApps>['apps'][number]

export const AppList = ({ apps }: { apps: readonly App[] }) => (
  <Card>
    <CardBody>
      <RowList rows={apps} none="No application is registered. The operator command registers one.">
        {(app) => (
          <Row key={app.app_id} title={<AppLink id={app.app_id} name={app.name} />} badge={<AppBadges app={app} />}>
            {app.endpoint ?? 'Asks for its tasks'}
          </Row>
        )}
      </RowList>
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
