import {
  alarmsIn,
  COUNTS,
  figures as contract,
  type Figures,
  isDisabled,
  lastAnswerOf,
  MAX_COUNTED,
  type TroubledApp,
  type TroubledWithdrawal,
} from '@/contract/operator'
import { isFailing } from '@/contract/tasks'
import { AWAY, capped, problemSaid } from '@/contract/words'
import { groupTroubles, troubleOfApp, watchOverview } from '@/domain/withdrawal/watch-overview'
import { getEnv } from '@/server/settings/env'
import { createHealth } from '@/server/watch/health-checks'
import { reading } from './command.ts'

/** The first failure, when it was disabled, or since when tasks wait for it to fetch them; null where it is late alone. */
export const sinceOf = ({ deliveries, tasks, unreliable, leaves_tasks }: TroubledApp): string | null =>
  [
    deliveries?.since,
    unreliable?.disabled_at,
    ...tasks.map((task) => (isFailing(task) ? task.failing_since : leaves_tasks ? task.due_at : null)),
  ]
    .flatMap((time) => time ?? [])
    .toSorted()[0] ?? null

function toApp(app: TroubledApp) {
  const withdrawals = [...new Set(app.tasks.map(({ withdrawal_id }) => withdrawal_id))]
  return {
    app_id: app.app_id,
    name: app.name,
    problem: troubleOfApp(app),
    late_since: app.late_since,
    last_error: lastAnswerOf(app),
    since: sinceOf(app),
    is_disabled: isDisabled(app),
    held_up: withdrawals.length,
    withdrawal_ids: withdrawals,
    waiting_events: app.deliveries?.waiting ?? 0,
    dead_events: app.deliveries?.dead ?? 0,
    waived_at: app.unreliable?.waived_at ?? null,
  }
}

/** The applications that the step waits for. */
const waitsFor = ({ tasks }: TroubledWithdrawal, step: string) =>
  tasks.filter(({ phase }) => phase === step).map(({ name }) => name)

/** A withdrawal in which several steps fail has a row for each, also where they wait for an application that fails. */
const toWithdrawals = (withdrawal: TroubledWithdrawal) =>
  withdrawal.deletion_steps.map(({ step, attempts, last_error, late_since }) => ({
    withdrawal_id: withdrawal.withdrawal_id,
    due_by: withdrawal.due_by,
    is_past_due: withdrawal.is_past_due,
    step,
    problem: problemSaid({ past_due: withdrawal.is_past_due, late: late_since }, [last_error]),
    late_since,
    waits_for: waitsFor(withdrawal, step),
    attempts,
    last_error,
  }))

type Shown = { figure: keyof Figures; count: number | null; means: string | undefined }

async function overview(ctx: Parameters<typeof watchOverview>[0]) {
  const health = createHealth({ ...ctx, ping: async () => {} }, getEnv())
  const [{ figures, ...troubles }, { degraded }] = await Promise.all([watchOverview(ctx), health()])
  const { apps, withdrawals, others, isUnread: isPartUnread, isCut } = groupTroubles(troubles)
  const alarms = alarmsIn(figures)
  const toFigure = (name: keyof Figures): Shown => ({
    figure: name,
    count: figures[name],
    means: contract.shape[name].meta()?.title,
  })
  const isUnread = isPartUnread || alarms.some((name) => figures[name] === null)
  if (!isUnread && degraded.length + alarms.length + apps.length + withdrawals.length === 0) {
    process.stderr.write('Nothing is late, and nothing fails.\n')
  }
  return {
    away: degraded.map((part) => AWAY[part]),
    figures: alarms.map(toFigure),
    failing_withdrawals: withdrawals.flatMap(toWithdrawals),
    failing_apps: apps.map(toApp),
    other_tasks: others,
    counts: COUNTS.filter((name) => figures[name] !== 0).map(toFigure),
    is_cut: isCut,
    ...(isUnread && { error: 'The database did not answer in time, so something may be missing here.' }),
  }
}

/** What lists what is counted. */
const LISTED_BY: { [Name in keyof Figures]?: string } = {
  past_due: 'withdrawal list',
  soon_due: 'withdrawal list',
  ending_tokens: 'service-token list',
  processing: 'withdrawal list',
  completed: 'withdrawal list --state completed',
  purged: 'withdrawal list --state purged',
  still_present: 'task list',
  undeliverable: 'user list',
}

/** As the page writes a count. */
const inWords = (figures: Shown[]) =>
  figures.map((one) => ({ ...one, count: capped(one.count, MAX_COUNTED), listed_by: LISTED_BY[one.figure] }))

const MAX_NAMED = 3

/** Which deletions wait for it, and the command that shows them. */
function waitingFor({ app_id, withdrawal_ids: ids }: ReturnType<typeof toApp>) {
  if (ids.length < 2) return { see: ids[0] ? `withdrawal show ${ids[0]}` : null }
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : ''
  return { deletions: ids.slice(0, MAX_NAMED).join(', ') + more, see: `task list --app ${app_id}` }
}

export const overviewCommands = [
  reading({
    name: 'overview',
    summary: 'Shows what fails or is late, and what waits, as /admin does.',
    options: {},
    run: overview,
    says(answer: Awaited<ReturnType<typeof overview>>) {
      const said = {
        ...answer,
        figures: inWords(answer.figures),
        failing_apps: answer.failing_apps.map((app) => ({ ...app, ...waitingFor(app) })),
        counts: inWords(answer.counts),
      }
      return Object.fromEntries(Object.entries(said).filter(([, value]) => !Array.isArray(value) || value.length > 0))
    },
  }),
]
