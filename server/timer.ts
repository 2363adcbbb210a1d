import { DUE_WORK, type DueJob } from '@/domain/due-work'
import { MIN_SWEEP_INTERVAL_MS, SWEEP_INTERVAL_BESIDE_ENGINE_MS, SWEEP_INTERVAL_MS } from '@/domain/limits/durations'
import { isDatabaseAway } from './adapters/database-away'
import { processState } from './process-state'
import { getEnv } from './settings/env'
import { systemContext } from './system-context'
import { logFailedWork } from './watch/failed-work'

/** The in-process sweep. It also runs beside an engine, because an engine can be away, lose its state or wake early. */
export function startTimer(): void {
  if (processState.isSweeping) return
  processState.isSweeping = true
  for (const job of DUE_WORK) schedule(job)
}

/** Each job has its own timer, so that one that fails or waits for a mail server delays no other. */
function schedule(job: DueJob) {
  const { hasEngine, withdrawalTimeScale } = getEnv()
  const everyMs = (hasEngine ? SWEEP_INTERVAL_BESIDE_ENGINE_MS : SWEEP_INTERVAL_MS) * withdrawalTimeScale
  setTimeout(tick, Math.max(MIN_SWEEP_INTERVAL_MS, everyMs), job).unref()
}

async function tick(job: DueJob) {
  if (processState.isStopping) return
  await job.run(systemContext()).catch((error) => {
    // The connections are closed while it runs. The next start goes on with it.
    if (processState.isStopping && isDatabaseAway(error)) return
    // Not awaited: the next run does not wait for the database's return.
    void logFailedWork('due_work_failed', error, { job: job.name })
  })
  schedule(job)
}
