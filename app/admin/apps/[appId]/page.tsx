import { cache } from 'react'
import { Removal } from '@/components/admin/command'
import { DeliveryTable } from '@/components/admin/delivery-table'
import { auditFor, EventCounts, TroubleBadges, Word } from '@/components/admin/drawn'
import { Facts } from '@/components/admin/facts'
import { linkOf } from '@/components/admin/id-link'
import { Trouble } from '@/components/admin/needs-attention'
import { Enable, OperatorButton } from '@/components/admin/operator-button'
import { Part, TablePart } from '@/components/admin/part'
import { RetryTasks, TaskTable } from '@/components/admin/task-table'
import { Disclosure } from '@/components/ui/disclosure'
import { LocalTime } from '@/components/ui/local-time'
import { app as contract, type getApp as getAppContract } from '@/contract/apps'
import type { Answer } from '@/contract/define'
import { type ShownAudit, shownAudit, troublesOf } from '@/contract/operator'
import type { ShownTask } from '@/contract/tasks'
import { partsOfReason } from '@/contract/vocabulary'
import { count } from '@/contract/words'
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
const WHILE_DISABLED = 'It gets no messages while it is disabled.'

/** A third secret would not be kept, so the one before the present one ends early. */
const Rotation = ({ of: { previous_secret_until: until } }: { of: Answer<typeof getAppContract> }) => (
  <>
    The new secret is shown once. For a day messages are signed with it and with the present one.
    {until && (
      <>
        {' '}
        The older secret, which is valid until <LocalTime dateTime={until} />, ends at once: a receiver that has no
        newer one refuses messages.
      </>
    )}
  </>
)

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
  const { action, at, actor } = auditFor(ctx.actor.userId)
  return (
    <AdminPage
      section="/admin/apps"
      title={app.name}
      id={appId}
      description={app.endpoint ?? 'It fetches its tasks and has no endpoint.'}
      refreshes
      aside={
        <p className="flex flex-wrap items-center gap-x-2 text-ink-muted empty:hidden">
          <TroubleBadges of={{ ...(trouble && troublesOf(trouble)), disabled: app.disabled_at }} />
        </p>
      }
    >
      <Part title="Actions" description={app.endpoint && 'A ping is a signed test call, which deletes nothing.'}>
        {trouble && (
          <p className="mb-3 text-ink-muted empty:hidden">
            <Trouble app={trouble} lastFetchedAt={app.last_asked_at} />
          </p>
        )}
        <div className="flex flex-wrap gap-3">
          <RetryTasks tasks={open.tasks} of={app.name} />
          {app.endpoint && (
            <OperatorButton operation="pingApp" params={{ appId }} label="Ping" of={new URL(app.endpoint).host} />
          )}
          {app.deliveries.dead > 0 && (
            <OperatorButton operation="resendDeadLetters" params={{ appId }} label="Send again what was given up" />
          )}
          {app.endpoint && (
            <OperatorButton
              operation="rotateAppSecret"
              params={{ appId }}
              label="Rotate secret"
              ask={{
                question: `Rotate the signing secret of ${app.name}?`,
                consequence: <Rotation of={app} />,
                keep: 'Keep the secret',
                confirm: 'Rotate secret',
                confirmVariant: 'primary',
              }}
            />
          )}
          {app.disabled_at ? (
            <Enable app={app} />
          ) : (
            <OperatorButton
              operation="setApp"
              params={{ appId }}
              body={{ disabled: true }}
              label="Disable"
              ask={{
                question: `Disable ${app.name}?`,
                consequence:
                  app.open_tasks > 0
                    ? `${WHILE_DISABLED} Deletions wait for it: ${count(app.open_tasks, 'open task')} now.`
                    : WHILE_DISABLED,
                keep: 'Keep it enabled',
                confirm: 'Disable',
              }}
              outcome={`Disabled: ${app.name}. Its messages and its deletion tasks wait until it is enabled.`}
            />
          )}
        </div>
        <Disclosure summary="Remove the app" className="mt-4 text-sm">
          <Removal of={appId} openTasks={app.open_tasks} />
        </Disclosure>
      </Part>
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
      <Part title="Settings" description={app.disabled_at && WHILE_DISABLED}>
        <Facts
          of={contract}
          row={app}
          fields={{
            audience: true,
            acknowledges: ({ endpoint, acknowledges }) =>
              endpoint ? <Word of={acknowledges} /> : 'When it reports so',
            last_asked_at: ({ endpoint, last_asked_at }) =>
              endpoint === null && (last_asked_at ? <LocalTime dateTime={last_asked_at} format="short" /> : 'Never'),
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
      <TablePart
        title="Audit log"
        description="What was done to it and to the tasks above, the newest first."
        of={shownAudit}
        rows={acts}
        id="audit_id"
        fields={{ action, subject_id: ofTask, at, actor }}
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
