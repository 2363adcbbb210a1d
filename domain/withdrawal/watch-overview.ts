import { type Figures, lastAnswerOf, type TroubledApp, type TroubledWithdrawal, troublesOf } from '@/contract/operator'
import { isLeft, type ShownTask } from '@/contract/tasks'
import { firstOf, problemSaid, TROUBLES, troublesIn } from '@/contract/words'
import { countUndeliverable } from '../accounts/list-undeliverable'
import { watchTasks } from '../applications/list-tasks'
import { failingApps, unreliableApps } from '../applications/operate-deliveries'
import type { SystemContext } from '../context'
import { orUnread } from '../figures'
import { countEndingTokens } from '../sessions/service-tokens'
import { countWithdrawals, troubledWithdrawals, watchBacklog } from './watch-withdrawals'

/** For operators: ids, states, times and errors, no personal data. A part that cannot be read is null, and so is a figure. */
export async function watchOverview(ctx: SystemContext) {
  const [figures, troubles] = await Promise.all([readAll(ctx), watchTroubles(ctx)])
  return { figures, ...troubles }
}

/** What fails, without the figures. */
export async function watchTroubles(ctx: SystemContext) {
  const [troubled, failing, unreliable, tasks] = await Promise.all([
    orUnread(ctx, 'troubled-withdrawals', troubledWithdrawals(ctx)),
    orUnread(ctx, 'failing-apps', failingApps(ctx)),
    orUnread(ctx, 'unreliable-apps', unreliableApps(ctx)),
    orUnread(ctx, 'open-tasks', watchTasks(ctx)),
  ])
  return { troubled, failing, unreliable, tasks, now: ctx.clock.now() }
}

async function readAll(ctx: SystemContext): Promise<Figures> {
  const [withdrawals, accounts, tokens, backlog] = await Promise.all([
    countWithdrawals(ctx),
    countUndeliverable(ctx),
    countEndingTokens(ctx),
    watchBacklog(ctx),
  ])
  const { dueDates, steps, ledger, outbox, notices, deliveries, silentApps, present } = backlog
  return {
    past_due: dueDates.overdue,
    overdue_steps: steps.overdue,
    failing_steps: steps.failing,
    silent_apps: silentApps,
    still_present: present,
    failed_notices: notices.failed,
    unwarned: notices.unwarned,
    dead_deliveries: deliveries.dead,
    replayed_withdrawals: ledger.replayed,
    soon_due: dueDates.soon,
    ...withdrawals,
    ...accounts,
    ...tokens,
    due_steps: steps.due,
    waiting_notices: notices.waiting,
    waiting_deliveries: deliveries.waiting,
    outbox,
    waiting_ledger: ledger.waiting,
  }
}

type Troubles = Awaited<ReturnType<typeof watchTroubles>>

/**
 * Each application that is disabled, still has a person, or of which something fails, with all its tasks that are due; the withdrawals
 * that fail for another reason; and the tasks of the other applications.
 */
export function groupTroubles({ troubled, failing, unreliable, tasks, now }: Troubles) {
  const withdrawals = troubled?.withdrawals ?? []
  const apps = new Map<string, TroubledApp>()
  const appOf = ({ app_id, name }: Pick<ShownTask, 'app_id' | 'name'>) => {
    const none = { problem: null, deliveries: null, tasks: [], leaves_tasks: false, unreliable: null }
    const app = apps.get(app_id) ?? { app_id, name, ...none, first_due_by: null, is_past_due: false, late_since: null }
    apps.set(app_id, app)
    return app
  }
  for (const deliveries of failing?.apps ?? []) appOf(deliveries).deliveries = deliveries
  for (const app of unreliable ?? []) appOf(app).unreliable = app
  const failed = withdrawals.flatMap(({ tasks }) => tasks)
  const isShown = new Set(failed.map(({ task_id }) => task_id))
  const others = (tasks?.tasks ?? []).filter(({ task_id }) => !isShown.has(task_id))
  for (const { due_by, is_past_due, deletion_steps, tasks } of withdrawals) {
    for (const task of tasks) {
      const app = appOf(task)
      app.tasks.push(task)
      // The withdrawals stand by their due dates.
      app.first_due_by ??= due_by
      app.is_past_due ||= is_past_due
      const own = deletion_steps.filter(({ step }) => step === task.phase)
      app.late_since = firstOf([app.late_since, ...own.map(({ late_since }) => late_since)])
    }
  }
  for (const task of others) if (isHeld(task) || apps.has(task.app_id)) appOf(task).tasks.push(task)
  for (const app of apps.values()) {
    app.leaves_tasks = app.tasks.some((task) => isLeft(task, now))
    app.problem = problemOf(app)
  }
  return {
    /** The worst first, on every page. */
    apps: [...apps.values()].sort(
      (one, other) =>
        rankOf(one) - rankOf(other) || other.tasks.length - one.tasks.length || one.name.localeCompare(other.name),
    ),
    withdrawals: withdrawals.filter((withdrawal) => ownSteps(withdrawal).length > 0),
    others: others.filter(({ app_id }) => !apps.has(app_id)),
    /** A part could not be read. */
    isUnread: !troubled || !failing || !unreliable || !tasks,
    /** More fails than these hold. */
    isCut: (troubled?.is_cut || tasks?.is_cut) ?? false,
  }
}

/** By the worst of what is wrong; those that are only waited for come last. */
function rankOf(app: TroubledApp): number {
  const worst = Object.keys(TROUBLES)
  const [own] = troublesIn(troublesOf(app))
  return own ? worst.indexOf(own) : worst.length
}

/** Such as “late, HTTP 503” and “disabled”; null of an application that is only waited for. */
export const troubleOfApp = (app: TroubledApp): string | null => problemSaid(troublesOf(app), [app.problem])

/** What is wrong with each application, by its id. */
export const problemsOf = (troubles: Troubles) =>
  new Map(
    groupTroubles(troubles).apps.map((app) => [app.app_id, { failing: troubleOfApp(app), late_since: app.late_since }]),
  )

/** Its last answer to an event or a deletion task, or else that it does not do its tasks. */
function problemOf(app: TroubledApp): string | null {
  const { leaves_tasks, tasks } = app
  if (leaves_tasks) return lastAnswerOf(app) ?? 'has not asked for its deletion tasks'
  return lastAnswerOf(app) ?? (tasks.some(isPresent) ? 'still has the person after every request' : null)
}

const isPresent = ({ state }: ShownTask) => state === 'present'
/** Nothing happens before an operator decides. */
const isHeld = (task: ShownTask) => task.is_app_disabled || isPresent(task)

/** The steps that fail by themselves. One that waits for an application is late because of it. */
const ownSteps = ({ deletion_steps, tasks }: TroubledWithdrawal) =>
  deletion_steps.filter(({ step }) => tasks.every(({ phase }) => phase !== step))
