import { systemContext } from '../context'
import { getEnv } from '../env'
import { answer } from '../http/answer'
import { processState } from '../process-state'
import { createHealth, type Health } from './health-checks'

/** The process answers. */
export const live = async (): Promise<Response> => answer(200, { status: 'live' })

export function currentHealth(): Promise<Health> {
  processState.health ??= createHealth(systemContext(), getEnv())
  return processState.health()
}

/** From now on a balancer is told to send its requests elsewhere. */
export function stopBeingReady(): void {
  processState.isStopping = true
}

/** 503 only where requests cannot be served; says which part is away, and nothing of where it is. */
export async function ready(): Promise<Response> {
  const { reason: missing, parts, degraded } = await currentHealth()
  const reason = processState.isStopping ? 'stopping' : missing
  return answer(reason ? 503 : 200, {
    status: reason ? 'not_ready' : 'ready',
    ...(reason && { reason }),
    ...parts,
    ...(degraded.length > 0 && { degraded }),
  })
}
