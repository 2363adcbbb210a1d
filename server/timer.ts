import { DUE_WORK } from '@/domain/withdrawal/run-due-work'
import { systemContext } from './context'
import { getEnv } from './env'
import { describeError, log } from './log'

const SWEEP_MS = 15_000
const SHORTEST_MS = 250

const shared = globalThis as { __accountTimer?: boolean }

/** Drives the due rows where no engine is configured. Any number of instances may run it: each row is claimed by one. */
export function startTimer(): void {
  if (getEnv().engine || shared.__accountTimer) return
  shared.__accountTimer = true
  for (const work of DUE_WORK) schedule(work)
}

type Work = (typeof DUE_WORK)[number]

/** Each at its own pace, as the engine's functions: what fails, or waits for a mail server, holds up nothing else. */
function schedule(work: Work) {
  const everyMs = Math.max(SHORTEST_MS, SWEEP_MS * getEnv().withdrawalTimeScale)
  setTimeout(tick, everyMs, work).unref()
}

async function tick(work: Work) {
  await work(systemContext()).catch((error) => log().error({ event: 'due_work_failed', ...describeError(error) }))
  schedule(work)
}
