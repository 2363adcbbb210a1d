import type { SystemContext } from '@/domain/context'
import { createArchiveStore } from './archive-store'
import { callApp } from './connected-apps'
import { openDatabase } from './db'
import { createEmitter } from './engine'
import { getEnv } from './env'
import { createErasureLedger } from './erasure-ledger'
import { describeError, log } from './log'
import { createMailer } from './mailer'
import { createOutsideIssuer } from './outside-issuer'
import { createPasswords, type PasswordQueue } from './passwords'
import { createSecrets } from './secrets'
import { traced } from './tracing'

interface ServiceContext extends SystemContext {
  passwords: PasswordQueue
  close(): Promise<void>
}

const shared = globalThis as { __accountContext?: ServiceContext }

/** What verbs need beside the request. One for the process: Next and the server entry are two bundles of the same code. */
export function systemContext(): ServiceContext {
  shared.__accountContext ??= createContext()
  return shared.__accountContext
}

function createContext() {
  const env = getEnv()
  if (!env.databaseUrl) throw new Error('DATABASE_URL is not set; start with npm start or npm run dev')
  return {
    ...openDatabase(env.databaseUrl, env.databaseConnections),
    clock: { now: () => new Date() },
    secrets: createSecrets({ auth: env.authSecrets, code: env.codeSecrets }),
    passwords: createPasswords(),
    mail: createMailer(env),
    outsideIssuer: env.outsideIssuer ? createOutsideIssuer(env.outsideIssuer) : null,
    archives: createArchiveStore(env),
    ledger: createErasureLedger(env),
    callApp,
    emit: createEmitter(),
    limits: env.limits,
    timeScale: env.withdrawalTimeScale,
    appUrl: env.appUrl,
    traced,
    background(task: () => Promise<unknown>) {
      task().catch((error) => log().error({ event: 'background_task_failed', ...describeError(error) }))
    },
  }
}
