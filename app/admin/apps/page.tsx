import { AppLink, EventCounts } from '@/components/admin/drawn'
import { TablePart } from '@/components/admin/part'
import { Badge } from '@/components/ui/badge'
import { app } from '@/contract/apps'
import { listApps } from '@/domain/applications/manage'
import { problemsOf, watchTroubles } from '@/domain/withdrawal/watch-overview'
import { AdminPage } from '../admin-page'
import { operatorContext, titleForOperators } from '../for-operators'

export const generateMetadata = titleForOperators('Apps')

export default async function ApplicationsPage() {
  const ctx = await operatorContext('/admin/apps')
  const [{ apps }, troubles] = await Promise.all([listApps(ctx), watchTroubles(ctx)])
  const problems = problemsOf(troubles)
  return (
    <AdminPage
      section="/admin/apps"
      title="Apps"
      description="Which apps hear of changes and deletions, and what waits for them."
    >
      <TablePart
        title="Registered apps"
        of={app}
        rows={apps}
        id="app_id"
        fields={{
          name: ({ app_id, name, disabled_at }) => (
            <>
              <AppLink id={app_id} name={name} />{' '}
              {disabled_at && (
                <Badge tone="warning" className={BESIDE}>
                  Disabled
                </Badge>
              )}
              <Failing problem={problems.get(app_id)} />
            </>
          ),
          endpoint: (row) => row.endpoint ?? 'Fetches its tasks',
          deliveries: ({ deliveries }) => <EventCounts of={deliveries} />,
          open_tasks: true,
        }}
        none="No app is registered. The operator command registers one."
      />
    </AdminPage>
  )
}

/** A badge beside a name makes its line no higher. */
const BESIDE = '-my-0.5 ms-1'

const Failing = ({ problem }: { problem: string | undefined }) =>
  problem && (
    <>
      <Badge tone="danger" className={BESIDE}>
        Failing
      </Badge>{' '}
      <span className="block font-normal text-ink-muted first-letter:uppercase">{problem}</span>
    </>
  )
