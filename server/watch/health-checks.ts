import type { SystemContext } from '@/domain/context'
import { statement } from '@/domain/sql'
import { checkMailServer } from '../adapters/check-mail-server'
import type { Env } from '../env'

const MAX_WAIT_MS = 2_000
/** A part that is away is asked again soon, so that its return is noticed. */
const AWAY_KEPT_MS = 1_000
const KEPT_MS = { database: 1_000, mail: 30_000, engine: 5_000 }

export const ping = statement('ping', () => 'SELECT 1')

type Check = () => Promise<boolean>
type Part = 'database' | 'mail' | 'engine'
export interface Health {
  /** Why the service cannot serve; undefined while it can. */
  reason: 'database_away' | undefined
  parts: Record<Part, string>
  /** Parts that are away and without which the service serves all the same. */
  degraded: Part[]
}

/** However often health is asked for, each part is asked once in a while, and waited for two seconds at most. */
export function createHealth(ctx: Pick<SystemContext, 'sql'>, env: Pick<Env, 'smtpUrl' | 'engine' | 'engineUrl'>) {
  const { smtpUrl, engine, engineUrl } = env
  const database = remembered(KEPT_MS.database, () => ctx.sql(ping, {}))
  const mail = smtpUrl ? remembered(KEPT_MS.mail, () => checkMailServer(smtpUrl, MAX_WAIT_MS)) : null
  const events = engine && engineUrl ? remembered(KEPT_MS.engine, () => fetchAny(engineUrl)) : null
  return async (): Promise<Health> => {
    const [isDatabaseThere, isMailThere, isEngineThere] = await Promise.all([database(), mail?.(), events?.()])
    const parts: Health['parts'] = {
      database: isDatabaseThere ? 'ok' : 'away',
      mail: isMailThere === undefined ? 'local' : isMailThere ? 'ok' : 'away',
      engine: !engine ? 'timer' : isEngineThere === undefined ? 'unknown' : isEngineThere ? 'reachable' : 'away',
    }
    return {
      // Mail waits in rows, and the sweep does the engine's work: turning callers away would help nobody.
      reason: isDatabaseThere ? undefined : 'database_away',
      parts,
      degraded: (['mail', 'engine'] as const).filter((part) => parts[part] === 'away'),
    }
  }
}

function remembered(keptMs: number, ask: () => Promise<unknown>): Check {
  let last: Promise<boolean> | undefined
  let goodUntil = 0
  return () => {
    if (last && performance.now() < goodUntil) return last
    goodUntil = Number.POSITIVE_INFINITY
    last = answers(ask).then((isThere) => {
      goodUntil = performance.now() + (isThere ? keptMs : Math.min(keptMs, AWAY_KEPT_MS))
      return isThere
    })
    return last
  }
}

function answers(ask: () => Promise<unknown>): Promise<boolean> {
  const asked = ask().then(
    () => true,
    () => false,
  )
  return Promise.race([asked, new Promise<false>((resolve) => setTimeout(resolve, MAX_WAIT_MS, false).unref())])
}

/** Any answer will do: whoever answers is there. */
async function fetchAny(url: string) {
  const response = await fetch(url, { signal: AbortSignal.timeout(MAX_WAIT_MS), redirect: 'manual' })
  await response.body?.cancel()
}
