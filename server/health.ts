import { type SystemContext, statement } from '@/domain/context'
import { answer } from './answer'
import { systemContext } from './context'
import { type Env, getEnv } from './env'
import { checkMailServer } from './mailer'

const MOST_WAIT_MS = 2_000
/** A part that is away is asked again soon, so that its return is noticed. */
const AWAY_KEPT_MS = 1_000
const KEPT_MS = { database: 1_000, mail: 30_000, engine: 5_000 }

export const ping = statement('ping', 'SELECT 1')

type Check = () => Promise<boolean>
type Part = 'database' | 'mail' | 'engine'
export interface Health {
  ready: boolean
  parts: Record<Part, string>
}

/** However often health is asked for, each part is asked once in a while, and waited for two seconds at most. */
export function createHealth(ctx: Pick<SystemContext, 'sql'>, env: Pick<Env, 'smtpUrl' | 'engine' | 'engineUrl'>) {
  const { smtpUrl, engine, engineUrl } = env
  const database = remembered(KEPT_MS.database, () => ctx.sql(ping, []))
  const mail = smtpUrl ? remembered(KEPT_MS.mail, () => checkMailServer(smtpUrl, MOST_WAIT_MS)) : null
  const events = engineUrl ? remembered(KEPT_MS.engine, () => fetchAny(engineUrl)) : null
  return async (): Promise<Health> => {
    const [isDatabaseThere, isMailThere, isEngineThere] = await Promise.all([database(), mail?.(), events?.()])
    return {
      // Without the engine requests are served as ever, and what is due waits in its rows: no reason to turn callers away.
      ready: isDatabaseThere && isMailThere !== false,
      parts: {
        database: isDatabaseThere ? 'ok' : 'away',
        mail: isMailThere === undefined ? 'local' : isMailThere ? 'ok' : 'away',
        engine: !engine ? 'timer' : isEngineThere ? 'reachable' : 'unknown',
      },
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
  return Promise.race([asked, new Promise<false>((resolve) => setTimeout(resolve, MOST_WAIT_MS, false).unref())])
}

/** Any answer will do: whoever answers is there. */
async function fetchAny(url: string) {
  const response = await fetch(url, { signal: AbortSignal.timeout(MOST_WAIT_MS), redirect: 'manual' })
  await response.body?.cancel()
}

const shared = globalThis as { __accountHealth?: () => Promise<Health> }

/** The process answers. */
export const live = async (): Promise<Response> => answer(200, { status: 'live' })

/** 503 where a part that requests need is away; says which, and nothing of where it is. */
export async function ready(): Promise<Response> {
  shared.__accountHealth ??= createHealth(systemContext(), getEnv())
  const { ready, parts } = await shared.__accountHealth()
  return answer(ready ? 200 : 503, { status: ready ? 'ready' : 'not_ready', ...parts })
}
