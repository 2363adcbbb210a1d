import { transaction } from '@/domain/context'
import { createProcess } from '@/domain/process'
import { createAppCaller, createEndpointRule } from './adapters/app-caller'
import { createBreachedPasswords } from './adapters/breached-passwords'
import { createClock } from './adapters/clock'
import { openDatabase } from './adapters/database'
import { isDatabaseAway } from './adapters/database-away'
import { createLedgerStore } from './adapters/ledger-store'
import { createMailEvents } from './adapters/mail-events/sources'
import { createMailer } from './adapters/mailer'
import { createArchiveStore } from './adapters/object-store'
import { createPasswords } from './adapters/passwords'
import { createSecrets } from './adapters/secrets'
import { processState, type ServiceContext } from './process-state'
import { getEnv } from './settings/env'
import { createAuditCollector } from './watch/audit-collector'
import { logFailedWork } from './watch/failed-work'
import { LedgerGuard } from './watch/guard-database'
import { log } from './watch/log'
import { traced } from './watch/tracing'

/** Called once in a process, before the first request. Imports an optional adapter only if it is configured. */
export async function openContext(): Promise<ServiceContext> {
  const env = getEnv()
  if (!env.databaseUrl) throw new Error('DATABASE_URL is not set; start with npm start or npm run dev')
  const guard = new LedgerGuard(env)
  const database = openDatabase(env.databaseUrl, env.databaseConnections, {
    admit: (sql) => guard.admit(sql),
    onLoss: () => guard.noteLoss(),
  })
  const clock = createClock(database.sql, (skewMs, isOff) =>
    log()[isOff ? 'error' : 'warn']({
      event: isOff ? 'clock_off' : 'clock_right_again',
      seconds: Math.round(skewMs / 1000),
    }),
  )
  await clock.follow()
  const secrets = createSecrets({ auth: env.authSecrets, code: env.codeSecrets })
  const context: ServiceContext = {
    ...database,
    transaction,
    guard,
    process: createProcess(),
    clock,
    close() {
      clock.stop()
      void guard.stop()
      return database.close()
    },
    secrets,
    passwords: createPasswords(),
    newPasswords: {
      minLength: env.passwordMin,
      product: env.brand.name,
      breaches: env.passwordBreaches === undefined ? null : createBreachedPasswords(env.passwordBreaches),
    },
    mail: createMailer(env, secrets),
    mailEvents: createMailEvents(env),
    outsideIssuer: env.outsideIssuer
      ? (await import('./adapters/outside-issuer')).createOutsideIssuer(env.outsideIssuer, clock)
      : null,
    identityProvider: env.identityProvider
      ? (await import('./adapters/identity-provider')).createIdentityProvider(
          env.identityProvider,
          `${env.appUrl}/api/auth/callback/oidc`,
          clock,
        )
      : null,
    hasPasswordSignIn: env.hasPasswordSignIn,
    freshSignIn: env.freshSignIn,
    newDeviceMail: env.newDeviceMail,
    deletionByMail: env.deletionByMail,
    archives: createArchiveStore(env),
    ledger: createLedgerStore(env),
    waitsForLedger: env.waitsForLedger,
    problemOfEndpoint: createEndpointRule(env),
    allowsHttpLinks: !env.isProduction,
    callApp: createAppCaller(clock, env),
    // Without an engine the timer finds the same rows, so no event has to be sent.
    emit: env.hasEngine ? (await import('./adapters/engine')).emit : null,
    auditCollector: env.otlpEndpoint === undefined ? null : createAuditCollector(env.otlpEndpoint, env),
    limits: env.limits,
    timeScale: env.withdrawalTimeScale,
    statutoryPeriod: env.statutoryPeriod,
    appUrl: env.appUrl,
    settingsUrl: env.settingsUrl,
    authority: env.authority,
    allowedOrigins: env.allowedOrigins,
    traced,
    warn: (event, facts) => log().warn({ event, ...facts }),
    background(task) {
      task().catch((error) => {
        if (processState.isStopping && isDatabaseAway(error)) return
        void logFailedWork('background_task_failed', error)
      })
    },
  }
  processState.context = context
  return context
}
