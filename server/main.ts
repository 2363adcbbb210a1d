import { createServer, type IncomingMessage, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import next from 'next'
import { seedDemoUser } from '@/prisma/seed'
import { api, badRequest } from './api'
import { clientIp, markClientIp } from './client-ip'
import { systemContext } from './context'
import { startEmbeddedPostgres } from './embedded-postgres'
import { type Env, getEnv, setDatabaseUrl } from './env'
import { describeError, inRequest, log, requestIdOf } from './log'
import { migrateDeploy } from './migrate'
import { hardenPage } from './page-headers'
import { cleanPageRequest } from './page-requests'
import { stopTracing } from './tracing'

const SHUTDOWN_MS = 15_000

/** What to end when the process ends, the last begun first. */
const closers: (() => Promise<unknown>)[] = []

/** `npm start` ends here: settings, database, migrations, demo user, then one HTTP server for the API and the pages. */
async function main() {
  const env = getEnv()
  stopOnSignal()
  if (!env.databaseUrl) {
    const database = await startEmbeddedPostgres({ dataDir: env.dataDir })
    closers.push(() => database.stop())
    setDatabaseUrl(database.url)
  }
  await migrateDeploy(getEnv().databaseUrl as string)
  closers.push(() => Promise.all([systemContext().close(), stopTracing()]))
  const demo = env.production ? null : await seedDemoUser(systemContext())
  const pages = next({ dev: false, port: env.port, hostname: 'localhost' })
  await pages.prepare()
  closers.push(() => pages.close())
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
    // Pages are read; Next would look for a server function behind any other method.
    if (!/^(?:GET|HEAD)$/.test(incoming.method ?? '') && !/^\/(?:api|admin)\//.test(incoming.url ?? '')) {
      return outgoing.writeHead(405, { Allow: 'GET, HEAD' }).end()
    }
    markClientIp(incoming, clientIp(incoming))
    cleanPageRequest(incoming)
    hardenPage(incoming, outgoing, env)
    const requestId = requestIdOf(incoming.headers['x-request-id'])
    outgoing.setHeader('X-Request-Id', requestId)
    return inRequest(requestId, () => handlePages(incoming, outgoing))
  })
  await listen(server, env.port)
  closers.push(() => close(server))
  announce(env, demo)
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

function stopOnSignal() {
  let stopping = false
  const onSignal = () => {
    if (stopping) return
    stopping = true
    stop(0)
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  // The starter that holds the other end has gone.
  process.on('disconnect', onSignal)
}

async function stop(code: number) {
  setTimeout(() => process.exit(1), SHUTDOWN_MS).unref()
  for (let closer = closers.pop(); closer; closer = closers.pop()) {
    await closer().catch((error) => log().error({ event: 'stop_failed', ...describeError(error) }))
  }
  process.exit(code)
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
  const taken = error?.code === 'EADDRINUSE'
  const sentence = taken ? `Port ${error.port} is taken. Set PORT to another, or end what uses it.` : error?.message
  process.stderr.write(`${process.env.DEBUG ? error?.stack : sentence}\n`)
  return stop(1)
})
