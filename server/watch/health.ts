import { answer } from '../http/answer'
import { processState } from '../process-state'
import { getEnv } from '../settings/env'
import { systemContext } from '../system-context'
import { createHealth, type Health } from './health-checks'

/** Liveness: the process answers. */
export const live = async (): Promise<Response> => answer(200, { status: 'live' })

export function currentHealth(): Promise<Health> {
  processState.health ??= createHealth(systemContext(), getEnv())
  return processState.health()
}

/** Whether mail waits in rows, because the mail server is away. */
export const isMailAway = async (): Promise<boolean> => (await currentHealth()).degraded.includes('mail')

/** Makes the readiness check fail, so that the load balancer sends its requests elsewhere. */
export function stopBeingReady(): void {
  processState.isStopping = true
}

/** Readiness: 503 only when requests cannot be served. The answer names the part that is away, and not its address. */
export async function ready(): Promise<Response> {
  const { reason: missing, parts, degraded } = await currentHealth()
  const reason = processState.isStopping ? 'stopping' : (missing ?? processState.heldFor)
  return answer(reason ? 503 : 200, {
    status: reason ? 'not_ready' : 'ready',
    ...(reason && { reason }),
    ...parts,
    // A store that stops for a moment is not reported, unless the service waits for it.
    ...(reason === 'ledger_away' && { ledger: 'away' }),
    ...(degraded.length > 0 && { degraded }),
  })
}
