import { DUE_WORK } from '@/domain/due-work'
import { systemContext } from './context'
import { getEnv } from './env'
import { processState } from './process-state'
import { describeError, log } from './watch/log'

const ALONE_MS = 15_000
const BESIDE_ENGINE_MS = 60_000
const MIN_INTERVAL_MS = 250

/** The in-process sweep. It also runs beside an engine, because an engine can be away, lose its state or wake early. */
export function startTimer(): void {
  if (processState.isSweeping) return
  processState.isSweeping = true
  for (const work of DUE_WORK) schedule(work)
}

type Work = (typeof DUE_WORK)[number]

/** Each job has its own timer, so that one that fails or waits for a mail server delays no other. */
function schedule(work: Work) {
  const { engine, withdrawalTimeScale } = getEnv()
  const everyMs = (engine ? BESIDE_ENGINE_MS : ALONE_MS) * withdrawalTimeScale
  setTimeout(tick, Math.max(MIN_INTERVAL_MS, everyMs), work).unref()
}

async function tick(work: Work) {
  await work(systemContext()).catch((error) => log().error({ event: 'due_work_failed', ...describeError(error) }))
  schedule(work)
}
