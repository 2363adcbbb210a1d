import pino from 'pino'
import { onTestFinished } from 'vitest'
import type { SystemContext } from '@/domain/context'
import type { Limits } from '@/domain/limits/limits'
import { createProcess } from '@/domain/process'
import { openDatabase } from '@/server/adapters/database'
import { processState, type ServiceContext } from '@/server/process-state'
import { createLog } from '@/server/watch/log'
import { type TestContext, testContext, testDatabase } from './domain'

/** Makes `ctx` the context of this process, as the server entry does with its own. */
export function installContext(ctx: Partial<SystemContext & Pick<ServiceContext, 'ping'>>): void {
  processState.log ??= pino({ level: 'silent' })
  processState.context = ctx as ServiceContext
}

/** The context of this process. Its background tasks end with the test. */
export async function installed(limits: Partial<Limits> = {}): Promise<TestContext> {
  const ctx = await testContext(limits)
  installContext(ctx)
  onTestFinished(() => ctx.settle())
  return ctx
}

/** The lines that this process logs from now on. */
export function logged(): string[] {
  const lines: string[] = []
  processState.log = createLog('debug', { write: (line) => void lines.push(line) })
  return lines
}

/** Another instance of the service on the same database, with connections of its own. */
export async function anotherInstance(ctx: TestContext): Promise<TestContext> {
  const { sql, transact, close } = openDatabase((await testDatabase()).url, undefined, { patience: 4 })
  onTestFinished(() => close())
  return { ...ctx, process: createProcess(), sql, transact }
}
