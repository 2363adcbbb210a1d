import {
  alarmsIn,
  figures as contract,
  FIGURES,
  isDisabled,
  type TroubledApp,
  type TroubledWithdrawal,
} from '@/contract/operator'
import { groupTroubles, lastAnswerOf, problemOf, watchOverview } from '@/domain/withdrawal/watch-overview'
import { command } from './command.ts'

function toApp(app: TroubledApp) {
  const withdrawals = [...new Set(app.tasks.map(({ withdrawal_id }) => withdrawal_id))]
  return {
    app_id: app.app_id,
    name: app.name,
    problem: problemOf(app) ?? (isDisabled(app) ? 'disabled' : null),
    last_error: lastAnswerOf(app),
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
  withdrawal.deletion_steps.map(({ step, attempts, last_error }) => ({
    withdrawal_id: withdrawal.withdrawal_id,
    due_by: withdrawal.due_by,
    is_past_due: withdrawal.is_past_due,
    step,
    problem: last_error ?? 'this step is late',
    waits_for: waitsFor(withdrawal, step),
    attempts,
    last_error,
  }))

export const overviewCommands = [
  command({
    name: 'overview',
    summary: 'Shows what fails or is late: alarms, applications and withdrawals.',
    options: {},
    async run(ctx) {
      const { figures, ...troubles } = await watchOverview(ctx)
      const { apps, isCut, ...grouped } = groupTroubles(troubles)
      const withdrawals = troubles.troubled?.withdrawals ?? []
      const alarms = alarmsIn(figures)
      const isAlarm = (name: string) => alarms.some((alarm) => alarm === name)
      const others = FIGURES.filter((name) => figures[name] !== 0 && !isAlarm(name))
      const shown = (name: keyof typeof figures) => ({
        figure: name,
        count: figures[name],
        means: contract.shape[name].meta()?.title,
      })
      const isUnread = grouped.isUnread || alarms.some((name) => figures[name] === null)
      if (!isUnread && alarms.length + apps.length + withdrawals.length === 0) {
        process.stderr.write('Nothing is late, and nothing fails.\n')
      }
      return {
        figures: alarms.map(shown),
        counts: others.map(shown),
        failing_apps: apps.map(toApp),
        failing_withdrawals: withdrawals.flatMap(toWithdrawals),
        is_cut: isCut,
        ...(isUnread && { error: 'The database did not answer in time, so something may be missing here.' }),
      }
    },
  }),
]
