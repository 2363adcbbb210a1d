import { setTimeout as sleep } from 'node:timers/promises'
import type { SystemContext } from '@/domain/context'
import { askLedgerStore } from '@/domain/withdrawal/ledger/ledger-before-answer'
import { checkMailServer } from '../adapters/check-mail-server'
import type { Env } from '../settings/env'

const MAX_WAIT_MS = 2_000
/** How long a failed check is cached: briefly, so that the part's return is noticed soon. */
const AWAY_KEPT_MS = 1_000
const KEPT_MS = { database: 1_000, mail: 30_000, engine: 5_000, ledger: 10_000 }
/** A store that stops for less than this is not reported. */
const LEDGER_AWAY_MS = 60_000

export const DISPENSABLE = ['mail', 'engine', 'ledger'] as const satisfies Dispensable[]

type Check = () => Promise<boolean>
type Part = 'database' | 'mail' | 'engine' | 'ledger'
type Dispensable = Exclude<Part, 'database'>
export interface Health {
  /** Why the service cannot serve requests; undefined while it can. */
  reason: 'database_away' | undefined
  parts: Record<Part, string>
  /** The parts that are away although the service can do without them. */
  degraded: Dispensable[]
}

/** Checks each part and caches the result, so that frequent calls cost nothing. A check waits at most two seconds. */
export function createHealth(
  ctx: SystemContext & { ping(): Promise<unknown> },
  env: Pick<Env, 'smtpUrl' | 'smtpNeedsTls' | 'hasEngine' | 'engineUrl'>,
) {
  const { smtpUrl, smtpNeedsTls, hasEngine, engineUrl } = env
  const database = remembered(KEPT_MS.database, () => ctx.ping())
  const mail = smtpUrl ? remembered(KEPT_MS.mail, () => checkMailServer(smtpUrl, smtpNeedsTls, MAX_WAIT_MS)) : null
  const events = hasEngine && engineUrl ? remembered(KEPT_MS.engine, () => fetchAny(engineUrl)) : null
  const ledger = remembered(KEPT_MS.ledger, () => askLedgerStore(ctx))
  let ledgerSeenAt = performance.now()
  return async (): Promise<Health> => {
    const [isDatabaseThere, isMailThere, isEngineThere, isLedgerThere] = await Promise.all([
      database(),
      mail?.(),
      events?.(),
      ledger(),
    ])
    if (isLedgerThere) ledgerSeenAt = performance.now()
    const parts: Health['parts'] = {
      database: isDatabaseThere ? 'ok' : 'away',
      mail: isMailThere === undefined ? 'local' : isMailThere ? 'ok' : 'away',
      engine: !hasEngine ? 'timer' : isEngineThere === undefined ? 'unknown' : isEngineThere ? 'reachable' : 'away',
      ledger: performance.now() - ledgerSeenAt < LEDGER_AWAY_MS ? 'ok' : 'away',
    }
    return {
      // Without the mail server, mail waits in rows; without the engine, the sweep does its work; without the store of the ledger,
      // withdrawals alone are refused. So none of them makes the service unready.
      reason: isDatabaseThere ? undefined : 'database_away',
      parts,
      degraded: DISPENSABLE.filter((part) => parts[part] === 'away'),
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
  const answer = ask().then(
    () => true,
    () => false,
  )
  return Promise.race([answer, sleep(MAX_WAIT_MS, false, { ref: false })])
}

/** Any HTTP status shows that the server is there. */
async function fetchAny(url: string) {
  const response = await fetch(url, { signal: AbortSignal.timeout(MAX_WAIT_MS), redirect: 'manual' })
  await response.body?.cancel()
}
