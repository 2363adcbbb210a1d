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
  const rank = ({ app_id, disabled_at }: (typeof apps)[number]) => (problems.has(app_id) ? 0 : disabled_at ? 1 : 2)
  return (
    <AdminPage
      section="/admin/apps"
      title="Apps"
      description="Which apps hear of changes and deletions, and what waits for them."
    >
      <TablePart
        title="Registered apps"
        description={problems.size > 0 && 'Those that fail first.'}
        of={app}
        rows={apps.toSorted((one, other) => rank(one) - rank(other))}
        id="app_id"
        fields={{
          name: ({ app_id, name, disabled_at }) => {
            const problem = problems.get(app_id)
            return (
              <>
                <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
                  <AppLink id={app_id} name={name} />{' '}
                  {disabled_at && (
                    <Badge tone="warning" className={BESIDE}>
                      Disabled
                    </Badge>
                  )}
                  {problem && (
                    <Badge tone="danger" className={BESIDE}>
                      Failing
                    </Badge>
                  )}
                </span>{' '}
                {problem && <span className="block font-normal text-ink-muted first-letter:uppercase">{problem}</span>}
              </>
            )
          },
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
const BESIDE = '-my-0.5'
