import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { Tracer } from '@opentelemetry/api'
import type { Logger } from 'pino'
import type { SystemContext } from '@/domain/context'
import type { Sql } from '@/domain/sql'
import type { MeasuredPasswords } from './adapters/passwords'
import type { Health } from './watch/health-checks'
import type { Metrics } from './watch/metric-definitions'

export const HOLDS = ['ledger_ahead', 'ledger_away', 'ledger_missing'] as const
/** Why no call is served although the database is there. */
export type HeldFor = (typeof HOLDS)[number]

export interface DatabaseGuard {
  /** Called with each connection that was opened anew, before it serves. */
  admit(sql: Sql): Promise<void>
  /** Called when a connection was lost. */
  noteLoss(): void
  /** Begins to guard. `served` resolves when the database may be served, and is null if it may be at once. */
  watch(ctx: SystemContext): Promise<{ served: Promise<void> | null }>
  stop(): Promise<void>
}

export interface ServiceContext extends SystemContext {
  passwords: MeasuredPasswords
  /** Rejects unless the database answers. It has a connection of its own, so that it tells nothing of how busy the others are. */
  ping(): Promise<unknown>
  guard: DatabaseGuard
  close(): Promise<void>
}

/** The server's process-wide state. The domain's is `ctx.process`. */
interface ProcessState {
  context?: ServiceContext
  /** The in-process sweep has been started. */
  isSweeping?: boolean
  heldFor?: HeldFor | undefined
  /** The process is shutting down. */
  isStopping?: boolean
  log?: Logger
  metrics?: Metrics
  tracing?: { tracer: Tracer; stop(): Promise<void> }
  health?: () => Promise<Health>
  currentRequestId: AsyncLocalStorage<string>
  /** Tells a page that is being answered, by the id of its request, that it cannot be made because the database is away. */
  awayHandlers: Map<string, () => void>
  /** The header in which the server entry hands the client's address to Next: random, so that no client can set it. */
  clientIpHeader: string
}

// Shared through globalThis, because Next and the server entry are two bundles of the same code: a module's variable would exist twice.
const shared = globalThis as { __account?: Partial<ProcessState> }
shared.__account ??= {}
shared.__account.currentRequestId ??= new AsyncLocalStorage()
shared.__account.awayHandlers ??= new Map()
shared.__account.clientIpHeader ??= `x-client-ip-${randomUUID()}`

export const processState = shared.__account as ProcessState
