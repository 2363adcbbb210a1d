import { cache } from 'react'
import { AppActions } from '@/components/admin/app-actions'
import { AuditPart } from '@/components/admin/audit-part'
import { DeliveryTable } from '@/components/admin/delivery-table'
import { EventCounts, TroubleBadges, Word } from '@/components/admin/drawn'
import { Facts } from '@/components/admin/facts'
import { linkOf } from '@/components/admin/id-link'
import { Part } from '@/components/admin/part'
import { TimeAndAge } from '@/components/admin/since'
import { TaskTable } from '@/components/admin/task-table'
import { app as contract } from '@/contract/apps'
import { type ShownAudit, troublesOf } from '@/contract/operator'
import type { ShownTask } from '@/contract/tasks'
import { partsOfReason } from '@/contract/vocabulary'
import { endedTasksOf, listTasks, MAX_LOOKED_AT } from '@/domain/applications/list-tasks'
import { getApp } from '@/domain/applications/manage'
import { listDeliveries } from '@/domain/applications/operate-deliveries'
import { actsOnApp } from '@/domain/audit'
import { groupTroubles, watchTroubles } from '@/domain/withdrawal/watch-overview'
import { systemContext } from '@/server/system-context'
import { AdminPage } from '../../admin-page'
import { operatorContext, orNotFound, titleForOperators } from '../../for-operators'

/** Read once for the title and the page. */
const readApp = cache((appId: string) => getApp(systemContext(), { appId }))

export const generateMetadata = titleForOperators('App', async (appId) => (await readApp(appId)).name)

const SHOWN = 20

/** What was done to the app itself concerns the page. */
const ofTask = ({ subject_id }: ShownAudit) =>
  subject_id?.startsWith('app_') ? null : subject_id && linkOf(subject_id)

export default async function ApplicationPage({ params }: { params: Promise<{ appId: string }> }) {
  const ctx = await operatorContext('/admin/apps')
  const { appId } = await params
  const app = await readApp(appId).catch(orNotFound)
  const [open, ended, recent, dead, troubles] = await Promise.all([
    listTasks(ctx, { appId, limit: SHOWN }),
    endedTasksOf(ctx, appId, SHOWN),
    listDeliveries(ctx, { appId, limit: SHOWN }),
    listDeliveries(ctx, { appId, status: 'dead', limit: SHOWN }),
    watchTroubles(ctx),
  ])
  const acts = await actsOnApp(ctx, { appId, tasks: [...open.tasks, ...ended], maxRows: SHOWN })
  const trouble = groupTroubles(troubles).apps.find(({ app_id }) => app_id === appId)
  return (
    <AdminPage
      section="/admin/apps"
      title={app.name}
      id={appId}
      description={app.endpoint ?? 'It fetches its tasks and has no endpoint.'}
      refreshes
      aside={
        <p className="flex flex-wrap items-center gap-x-2 text-ink-muted empty:hidden">
          <TroubleBadges of={{ disabled: app.disabled_at }} />
          <TroubleBadges of={{ ...(trouble && troublesOf(trouble)), disabled: false }} />
        </p>
      }
    >
      <AppActions app={app} trouble={trouble} openTasks={open.tasks} />
      <Part
        title="Open deletion tasks"
        description={open.is_cut && `${SHOWN} of ${app.open_tasks.toLocaleString('en')} are shown.`}
        none={open.tasks.length === 0 && 'No deletion waits for it.'}
      >
        <TaskTable label="Open deletion tasks" tasks={inFixedOrder(open.tasks)} fields={{ withdrawal_id: true }} />
      </Part>
      <Part
        title="Ended deletion tasks"
        description={`The newest first, from the last ${MAX_LOOKED_AT} deletions that still have records.`}
        none={ended.length === 0 && 'No deletion task of it has ended lately.'}
      >
        <TaskTable label="Ended deletion tasks" tasks={ended} fields={{ withdrawal_id: true }} />
      </Part>
      {dead.deliveries.length > 0 && <DeliveryTable title="Events given up" deliveries={dead.deliveries} />}
      <DeliveryTable
        title="Recent events"
        aside={app.deliveries.waiting > 0 && <EventCounts of={{ ...app.deliveries, dead: 0 }} />}
        deliveries={recent.deliveries.filter(({ status }) => status !== 'dead')}
        {...(dead.deliveries.length > 0 && { none: 'None but those that were given up.' })}
      />
      <Part title="Settings">
        <Facts
          of={contract}
          row={app}
          fields={{
            audience: true,
            acknowledges: ({ endpoint, acknowledges }) =>
              endpoint ? <Word of={acknowledges} /> : 'When it reports so',
            last_asked_at:
              app.endpoint === null &&
              ((row) => (row.last_asked_at ? <TimeAndAge time={row.last_asked_at} /> : 'Never')),
            phase: true,
            events: true,
            includes: true,
            checks: true,
            confirms: true,
            waive_reasons: ({ waive_reasons }) =>
              waive_reasons.length > 0 &&
              waive_reasons.map((reason) => <p key={reason}>“{partsOfReason(reason).sentence}”</p>),
            previous_secret_until: true,
          }}
        />
      </Part>
      <AuditPart
        description="What was done to it and to the tasks above, the newest first."
        acts={acts}
        readerId={ctx.actor.userId}
        subjectOf={ofTask}
        none="Nothing was done to it yet."
      />
    </AdminPage>
  )
}

/** A row keeps its place while the page refreshes, because one of its buttons is final. */
const inFixedOrder = (tasks: readonly ShownTask[]) =>
  tasks.toSorted(
    (one, other) => one.started_at.localeCompare(other.started_at) || one.task_id.localeCompare(other.task_id),
  )
