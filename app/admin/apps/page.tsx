import { Command } from '@/components/admin/command'
import { AppLink, EventCounts, TroubleBadges } from '@/components/admin/drawn'
import { TablePart } from '@/components/admin/part'
import { app } from '@/contract/apps'
import { troublesOf } from '@/contract/operator'
import { FETCHES, resultOf } from '@/contract/words'
import { listApps } from '@/domain/applications/manage'
import { groupTroubles, watchTroubles } from '@/domain/withdrawal/watch-overview'
import { AdminPage } from '../admin-page'
import { operatorContext, titleForOperators } from '../for-operators'

export const generateMetadata = titleForOperators('Apps')

export default async function ApplicationsPage() {
  const ctx = await operatorContext('/admin/apps')
  const [{ apps }, troubles] = await Promise.all([listApps(ctx), watchTroubles(ctx)])
  const { apps: found, isUnread, isCut } = groupTroubles(troubles)
  const troubled = new Map(found.map((app, place) => [app.app_id, { ...app, place }]))
  const areOthersFine = !isUnread && !isCut
  const placeOf = ({ app_id }: (typeof apps)[number]) => troubled.get(app_id)?.place ?? troubled.size
  return (
    <AdminPage
      section="/admin/apps"
      title="Apps"
      description="Which apps hear of changes and deletions, and what waits for them."
      refreshes
    >
      <TablePart
        title="Registered apps"
        description={troubled.size > 0 && 'The worst first, as on the overview.'}
        of={app}
        rows={apps.toSorted((one, other) => placeOf(one) - placeOf(other))}
        id="app_id"
        fields={{
          name: ({ app_id, name, disabled_at }) => {
            const trouble = troubled.get(app_id)
            return (
              <>
                <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
                  <AppLink id={app_id} name={name} />{' '}
                  <TroubleBadges of={{ ...(trouble && troublesOf(trouble)), disabled: disabled_at }} />
                </span>{' '}
                <span className="block font-normal text-ink-muted first-letter:uppercase empty:hidden">
                  {trouble ? trouble.problem && resultOf(trouble.problem) : areOthersFine && 'Nothing fails or is late'}
                </span>
              </>
            )
          },
          endpoint: (row) => row.endpoint ?? FETCHES,
          deliveries: ({ deliveries }) => <EventCounts of={deliveries} />,
          open_tasks: true,
        }}
        none={
          <>
            No app is registered. This command registers one:{' '}
            <Command words="app register --name NAME --endpoint URL" />
          </>
        }
      />
    </AdminPage>
  )
}
