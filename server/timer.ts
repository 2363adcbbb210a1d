import { runDueWork } from '@/domain/withdrawal/run-due-work'
import { systemContext } from './context'
import { getEnv } from './env'
import { describeError, log } from './log'

const SWEEP_MS = 15_000
const SHORTEST_MS = 250

const shared = globalThis as { __accountTimer?: NodeJS.Timeout }

/** Drives the due rows where no engine is configured. Any number of instances may run it: each row is claimed by one. */
export function startTimer(): void {
  if (getEnv().engine || shared.__accountTimer) return
  schedule()
}

function schedule() {
  const everyMs = Math.max(SHORTEST_MS, SWEEP_MS * getEnv().withdrawalTimeScale)
  shared.__accountTimer = setTimeout(tick, everyMs).unref()
}

async function tick() {
  await runDueWork(systemContext()).catch((error) => log().error({ event: 'due_work_failed', ...describeError(error) }))
  schedule()
}
