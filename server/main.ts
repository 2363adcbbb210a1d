import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import module from 'node:module'
import { getRequestListener } from '@hono/node-server'
import { AppError } from '@/contract/errors'
import { DEMO_PERSON, seedDemoPerson, seedDemoUser } from '@/prisma/seed'
import { loadMessages } from './adapters/mailer'
import { type Env, getEnv, setDatabaseUrl } from './env'
import { api, badRequest } from './http/api'
import { clientIp, warnWithoutTrustedProxy } from './http/client-ip'
import { patiently } from './http/database-away'
import { refuse as refuseCall } from './http/endpoint'
import { FOREIGN_HOST, isLocalHost } from './http/local-host'
import { METHODS } from './http/methods'
import { startEmbeddedPostgres } from './local/embedded-postgres'
import { migrateDeploy } from './migrate'
import { openContext } from './open-context'
import type { Pages } from './pages/serve-pages'
import { startTimer } from './timer'
import { stopBeingReady } from './watch/health'
import { ping } from './watch/health-checks'
import { describeError, log } from './watch/log'
import { startTracing, stopTracing } from './watch/tracing'

const SHUTDOWN_MS = 15_000
const MOST_FORM_BYTES = 16 * 1024
/** The engine sends along what steps have returned, which here is ids and times. */
const MOST_ENGINE_BYTES = 256 * 1024

/** What to end when the process ends, the last begun first. */
const closers: (() => Promise<unknown>)[] = []
let stopping = false
const answering = new Set<ServerResponse>()

/** `npm start` ends here: settings, database, migrations, then one HTTP server for the API and the pages. */
async function main() {
  const env = getEnv()
  warnWithoutTrustedProxy(env)
  process.on('SIGINT', () => stop(0))
  process.on('SIGTERM', () => stop(0))
  // The starter that holds the other end has gone.
  process.on('disconnect', () => stop(0))
  if (!env.databaseUrl) {
    const database = await startEmbeddedPostgres({ dataDir: env.dataDir })
    closers.push(() => database.stop())
    setDatabaseUrl(database.url)
  }
  await migrateDeploy(getEnv().databaseUrl as string)
  const ctx = await openContext()
  closers.push(() => Promise.all([ctx.close(), stopTracing()]))
  await startTracing()
  startTimer()
  if (env.demoProviderPort) {
    const provider = await import('./local/demo-provider').then(({ startDemoProvider }) => startDemoProvider(env))
    closers.push(() => provider.close())
  }
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    requestTimeout: 27_000,
    headersTimeout: 15_000,
    // How often Node looks for those who take longer.
    connectionsCheckingInterval: 2_000,
    // Nothing here speaks another protocol; Next would look for one.
    shouldUpgradeCallback: () => false,
  })
  // The API is served before Next is loaded, which keeps the process busy for a while; who asks for a page waits for it.
  const pages = listen(server, env)
    .then(() => patiently(() => ctx.sql(ping, {})))
    .then(() => import('./pages/serve-pages'))
    .then(({ preparePages }) => preparePages(env))
  server.on('request', (_incoming, outgoing) => {
    if (stopping) outgoing.setHeader('Connection', 'close')
    answering.add(outgoing)
    outgoing.once('close', () => answering.delete(outgoing))
  })
  server.on('request', requestListener(pages, env))
  closers.push(() => close(server))
  const { close: closePages } = await pages
  closers.push(closePages)
  const demo = env.production ? null : await patiently(() => seedDemoUser(ctx))
  if (env.demoProviderPort) await patiently(() => seedDemoPerson(ctx))
  await loadMessages()
  if (stopping) return
  announce(env, demo)
  module.flushCompileCache?.()
}

function requestListener(pages: Promise<Pages>, { production }: Env): RequestListener {
  const handleApi = getRequestListener((request, { incoming }) => api(request, clientIp(incoming as IncomingMessage)), {
    errorHandler: badRequest,
  })
  const refuseForeignCall = getRequestListener(
    (request) => refuseCall(request, new AppError('REQUEST_001', FOREIGN_HOST)),
    { errorHandler: badRequest },
  )
  return (incoming, outgoing) => {
    incoming.url = pathOf(incoming.url ?? '/')
    const isForeign = !production && !isLocalHost(incoming.headers.host)
    if (/^\/api\/v1(?:[/?]|$)/.test(incoming.url)) {
      return isForeign ? refuseForeignCall(incoming, outgoing) : handleApi(incoming, outgoing)
    }
    const refuse = (status: number, headers: Record<string, string> = {}, text?: string) => {
      incoming.resume()
      outgoing.writeHead(status, { 'Cache-Control': 'no-store', ...headers }).end(text)
    }
    if (isForeign) return refuse(421, { 'Content-Type': 'text/plain; charset=utf-8' }, `${FOREIGN_HOST}\n`)
    const [path = '/'] = incoming.url.split('?')
    if (!isDecodable(path)) return refuse(400)
    // Pages are read; Next would look for a server function behind any other method.
    const methods = /^\/(?:api|admin)\//.test(path) ? METHODS : (['GET', 'HEAD'] as const)
    if (!methods.some((method) => method === incoming.method)) return refuse(405, { Allow: methods.join(', ') })
    if (bodyBytes(incoming) > (path === '/api/inngest' ? MOST_ENGINE_BYTES : MOST_FORM_BYTES)) {
      return refuse(413, { Connection: 'close' })
    }
    return pages.then(
      ({ serve }) => serve(incoming, outgoing),
      () => outgoing.writeHead(503).end(),
    )
  }
}

/** Next reads a body whole before anyone looks at it, so that its length has to be known. */
const bodyBytes = ({ headers }: IncomingMessage): number =>
  headers['transfer-encoding'] ? Number.POSITIVE_INFINITY : Number(headers['content-length'] ?? 0)

/** What cannot be decoded makes Next answer with a 500. */
function isDecodable(path: string): boolean {
  try {
    return Boolean(decodeURIComponent(path))
  } catch {
    return false
  }
}

/** The path and query alone: the absolute form that proxies may use, and doubled slashes, would make Next redirect. */
function pathOf(url: string): string {
  const path = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '') || '/'
  return path.replace(/^\/{2,}/, '/no-such-page/')
}

/** The local mailbox and the demo account are for this machine alone. */
function listen(server: Server, { port, production }: Env): Promise<void> {
  const host = production ? undefined : '127.0.0.1'
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    // The connection ends with the answer: a proxy that is not told would send the next request into nothing.
    for (const outgoing of answering) if (!outgoing.headersSent) outgoing.setHeader('Connection', 'close')
    setTimeout(() => server.closeAllConnections(), SHUTDOWN_MS - 5_000).unref()
  })
}

async function stop(code: number) {
  if (stopping) return
  stopping = true
  stopBeingReady()
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
    env.demoProviderPort && `Demo account without a password: sign in with the demo provider, as ${DEMO_PERSON.name}`,
    env.smtpUrl ? `Mail goes to ${new URL(env.smtpUrl).host}` : `Mail is kept and shown at ${env.appUrl}/dev/mailbox`,
    `API description: ${env.appUrl}/docs/api`,
  ]
  // Nobody may be reading, and the volume behind it may be full.
  process.stdout.on('error', () => {})
  process.stdout.write(`\n${lines.filter(Boolean).join('\n')}\n\n`)
}

main().catch((error) => {
  // What is taken away from a start that is to stop fails.
  if (stopping) return
  // A wrong setting or a taken port is the operator's to mend: a sentence, not a stack.
  const taken = error?.code === 'EADDRINUSE'
  const sentence = taken ? `Port ${error.port} is taken. Set PORT to another, or end what uses it.` : error?.message
  process.stderr.write(`${process.env.DEBUG ? error?.stack : sentence}\n`)
  return stop(1)
})
