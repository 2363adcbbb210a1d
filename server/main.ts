import { createServer, type IncomingMessage, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import next from 'next'
import { seedDemoUser } from '@/prisma/seed'
import { api, badRequest } from './api'
import { clientIp, markClientIp } from './client-ip'
import { systemContext } from './context'
import { startEmbeddedPostgres } from './embedded-postgres'
import { type Env, getEnv, SettingsError, setDatabaseUrl } from './env'
import { describeError, inRequest, log, requestIdOf } from './log'
import { migrateDeploy } from './migrate'
import { hardenPage } from './page-headers'
import { stopTracing } from './tracing'

const SHUTDOWN_MS = 15_000

/** `npm start` ends here: settings, database, migrations, demo user, then one HTTP server for the API and the pages. */
async function main() {
  const env = getEnv()
  const database = env.databaseUrl ? undefined : await startEmbeddedPostgres({ dataDir: env.dataDir })
  if (database) setDatabaseUrl(database.url)
  await migrateDeploy(getEnv().databaseUrl as string)
  const demo = env.production ? null : await seedDemoUser(systemContext())
  const pages = next({ dev: false, port: env.port, hostname: 'localhost' })
  await pages.prepare()
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    requestTimeout: 30_000,
    headersTimeout: 15_000,
    // Nothing here speaks another protocol; Next would look for one.
    shouldUpgradeCallback: () => false,
  })
  const handleApi = getRequestListener((request, { incoming }) => api(request, clientIp(incoming as IncomingMessage)), {
    errorHandler: badRequest,
  })
  const handlePages = pages.getRequestHandler()
  server.on('request', (incoming, outgoing) => {
    incoming.url = pathOf(incoming.url ?? '/')
    if (/^\/api\/v1(?:[/?]|$)/.test(incoming.url ?? '')) return handleApi(incoming, outgoing)
    markClientIp(incoming, clientIp(incoming))
    hardenPage(incoming, outgoing, env)
    const requestId = requestIdOf(incoming.headers['x-request-id'])
    outgoing.setHeader('X-Request-Id', requestId)
    return inRequest(requestId, () => handlePages(incoming, outgoing))
  })
  await listen(server, env.port)
  announce(env, demo)
  stopOnSignal(async () => {
    await close(server)
    await pages.close()
    await Promise.all([systemContext().close(), stopTracing()])
    await database?.stop()
  })
}

/** The path and query alone: the absolute form that proxies may use, and doubled slashes, would make Next redirect. */
function pathOf(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
  return path.replace(/^\/{2,}/, '/no-such-page/')
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, resolve))
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    setTimeout(() => server.closeAllConnections(), SHUTDOWN_MS - 5_000).unref()
  })
}

function stopOnSignal(stop: () => Promise<void>) {
  let stopping = false
  const onSignal = () => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(1), SHUTDOWN_MS).unref()
    stop().then(
      () => process.exit(0),
      (error) => {
        log().error({ event: 'stop_failed', ...describeError(error) })
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  // The starter that holds the other end has gone.
  process.on('disconnect', onSignal)
}

function announce(env: Env, demo: { email: string; password: string } | null) {
  const lines = [
    `Ready on ${env.appUrl}`,
    demo && `Demo account: ${demo.email} / ${demo.password}`,
    env.smtpUrl ? `Mail goes to ${new URL(env.smtpUrl).host}` : `Mail is kept and shown at ${env.appUrl}/dev/mailbox`,
    `API description: ${env.appUrl}/docs/api`,
  ]
  process.stdout.write(`\n${lines.filter(Boolean).join('\n')}\n\n`)
}

main().catch((error) => {
  // A wrong setting or a taken port is the operator's to mend: a sentence, not a stack.
  const sentence = error instanceof SettingsError || error?.code === 'EADDRINUSE' || !process.env.DEBUG
  process.stderr.write(`${sentence && error instanceof Error ? error.message : error?.stack}\n`)
  process.exit(1)
})
