import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import module from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { AppError } from '@/contract/errors'
import { nameOfNewSecret } from '@/domain/withdrawal/ledger/known-secret'
import { requireLedgerStore } from '@/domain/withdrawal/ledger/ledger-before-answer'
import { signingKey } from '@/domain/withdrawal/receipts/signing-keys'
import { onceDatabaseAnswers } from './adapters/database-away'
import { loadMessages } from './adapters/mailer'
import { api, badRequest } from './http/api'
import { clientIp } from './http/client-ip'
import { refuse as refuseCall } from './http/exchange'
import { FOREIGN_HOST, isLocalHost } from './http/local-host'
import { METHODS } from './http/methods'
import { cutOffOverload } from './http/pipelining'
import { DEMO_PERSON, seedDemoPerson, seedDemoUser } from './local/demo-account'
import { deleteExpiredMessages } from './local/mailbox'
import { openContext } from './open-context'
import type { Pages } from './pages/serve-pages'
import { prepareDatabase } from './prepare-database'
import { processState } from './process-state'
import { type Env, getEnv, misspelled, settingWarnings } from './settings/env'
import { SettingsError } from './settings/settings-error'
import { portTakenMessage } from './taken-port.mjs'
import { startTimer } from './timer'
import { captureForeignLines } from './watch/foreign-lines'
import { stopBeingReady } from './watch/health'
import { describeError, log } from './watch/log'
import { startTracing, stopTracing } from './watch/tracing'

const SHUTDOWN_MS = 15_000
const MAX_FORM_BYTES = 16 * 1024
/** Larger than a form, because the engine sends the results of earlier steps, which are ids and times. */
const MAX_ENGINE_BYTES = 256 * 1024

/** Longer than load balancers keep an idle connection, so that none sends a request into one that is being closed here. */
const KEEP_ALIVE_MS = 75_000

/** Called at shutdown, in reverse order. */
const closers: (() => Promise<unknown>)[] = []
const answering = new Set<ServerResponse>()
let isClosing = false

const server = createServer({
  maxHeaderSize: 16 * 1024,
  requestTimeout: 27_000,
  headersTimeout: 15_000,
  keepAliveTimeout: KEEP_ALIVE_MS,
  // How often Node checks the two timeouts above.
  connectionsCheckingInterval: 2_000,
  // No upgrades: no other protocol is spoken here, and Next would look for one.
  shouldUpgradeCallback: () => false,
})

/** The entry point of `npm start`: settings, database, migrations, then one HTTP server for the API and the pages. */
async function main() {
  const env = getEnv()
  captureForeignLines()
  process.on('uncaughtException', crash)
  process.on('SIGINT', () => stop(0))
  process.on('SIGTERM', () => drain(env))
  // The ipc channel closes when scripts/start.mjs has ended.
  process.on('disconnect', () => stop(0))
  await prepareDatabase(env, closers)
  const ctx = await openContext()
  closers.push(() => Promise.all([ctx.close(), stopTracing()]))
  await startTracing()
  const newSecret = await nameOfNewSecret(ctx)
  if (newSecret && newSecret !== env.acceptedSecret) {
    throw new SettingsError(`${OTHER_SECRET} ACCEPT_NEW_SECRET=${newSecret}`)
  }
  await signingKey(ctx)
  const { served } = await ctx.guard.watch(ctx)
  if (!served) {
    startTimer()
    // A store that refuses writes is reported before somebody withdraws.
    void requireLedgerStore(ctx).catch(() => {})
  }
  if (env.demoProviderPort) {
    const provider = await import('./local/demo-provider').then(({ startDemoProvider }) => startDemoProvider(env))
    closers.push(() => provider.close())
  }
  // The API is served before Next is loaded, because loading takes a while. Requests for pages wait for it.
  const pages = listen(server, env)
    .then(() => onceDatabaseAnswers(() => ctx.ping()))
    .then(() => import('./pages/serve-pages'))
    .then(({ preparePages }) => preparePages(env))
  const serve = requestListener(pages, env)
  server.on('request', (incoming, outgoing) => {
    if (cutOffOverload(incoming, outgoing)) return
    if (processState.isStopping) outgoing.setHeader('Connection', 'close')
    answering.add(outgoing)
    outgoing.once('close', () => answering.delete(outgoing))
    // On the next tick all requests of the packet have been read, so that a connection with too many is cut off before any of them costs something.
    process.nextTick(() => incoming.socket.destroyed || serve(incoming, outgoing))
  })
  closers.push(() => close(server))
  const { close: closePages } = await pages
  // From here on Next catches such errors, which may come from a page that its reader has left.
  process.off('uncaughtException', crash)
  closers.push(closePages)
  for (const hint of misspelled(process.env)) {
    // Whoever tries the service reads words, and programs read a log.
    if (env.isProduction) log().warn({ event: 'unknown_setting', hint })
    else process.stdout.write(`${hint}\n`)
  }
  for (const hint of settingWarnings(env)) log().warn({ event: 'doubtful_setting', hint })
  if (served) {
    await served
    startTimer()
  }
  const demo = env.isProduction ? null : await onceDatabaseAnswers(() => seedDemoUser(ctx))
  if (!env.smtpUrl) await deleteExpiredMessages()
  if (env.demoProviderPort) await onceDatabaseAnswers(() => seedDemoPerson(ctx))
  await loadMessages()
  if (processState.isStopping) return
  announce(env, demo)
  module.flushCompileCache?.()
}

const OTHER_SECRET =
  'CODE_SECRET is not the secret of this database: it neither opens the newest signing key nor has made the newest line of the erasure ledger. Set the one that was used before, if need be behind a new one and a comma. After a real loss of it, set this:'

/** Does not say which database was restored, because only the operator needs to know that. */
const NOT_SERVED = 'The service is being restored. Try again later.\n'
const heldBack = () => new AppError('SERVER_002', NOT_SERVED.trim(), 60)

function requestListener(pages: Promise<Pages>, { isProduction }: Env): RequestListener {
  const listenerOf = (answer: (request: Request, incoming: IncomingMessage) => Response | Promise<Response>) =>
    getRequestListener((request, { incoming }) => answer(request, incoming as IncomingMessage), {
      errorHandler: badRequest,
    })
  const handleApi = listenerOf((request, incoming) => api(request, clientIp(incoming)))
  const refuseForeignCall = listenerOf((request) => refuseCall(request, new AppError('REQUEST_001', FOREIGN_HOST)))
  const refuseOldDatabase = listenerOf((request) => refuseCall(request, heldBack()))
  return (incoming, outgoing) => {
    incoming.url = pathOf(incoming.url ?? '/')
    const isForeign = !isProduction && !isLocalHost(incoming.headers.host)
    const isHeldBack = processState.heldFor !== undefined && !/^\/api\/(?:health|metrics)\b/.test(incoming.url)
    if (/^\/api\/v1(?:[/?]|$)/.test(incoming.url)) {
      if (isForeign) return refuseForeignCall(incoming, outgoing)
      return isHeldBack ? refuseOldDatabase(incoming, outgoing) : handleApi(incoming, outgoing)
    }
    const refuse = (status: number, headers: Record<string, string> = {}, text?: string) => {
      incoming.resume()
      outgoing.writeHead(status, { 'Cache-Control': 'no-store', ...headers }).end(text)
    }
    if (isForeign) return refuse(421, { 'Content-Type': 'text/plain; charset=utf-8' }, `${FOREIGN_HOST}\n`)
    if (isHeldBack) return refuse(503, { 'Content-Type': 'text/plain; charset=utf-8', 'Retry-After': '60' }, NOT_SERVED)
    const [path = '/'] = incoming.url.split('?')
    if (!isDecodable(path)) return refuse(400)
    // Pages allow GET and HEAD only, because Next would look for a server function behind any other method.
    const methods = /^\/(?:api|admin)\//.test(path) ? METHODS : (['GET', 'HEAD'] as const)
    if (!methods.some((method) => method === incoming.method)) return refuse(405, { Allow: methods.join(', ') })
    if (bodyBytes(incoming) > (path === '/api/inngest' ? MAX_ENGINE_BYTES : MAX_FORM_BYTES)) {
      return refuse(413, { Connection: 'close' })
    }
    return pages.then(
      ({ serve }) => serve(incoming, outgoing),
      () => outgoing.writeHead(503).end(),
    )
  }
}

/** The size of the body, infinite where it is unknown: Next would read the whole body before anything checks it. */
const bodyBytes = ({ headers }: IncomingMessage): number =>
  headers['transfer-encoding'] ? Number.POSITIVE_INFINITY : Number(headers['content-length'] ?? 0)

/** Whether the path can be decoded; otherwise Next would answer 500. */
function isDecodable(path: string): boolean {
  try {
    return Boolean(decodeURIComponent(path))
  } catch {
    return false
  }
}

/** Path and query without origin and doubled slashes, for which Next would answer with a redirect. */
function pathOf(url: string): string {
  const path = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '') || '/'
  return path.replace(/^\/{2,}/, '/no-such-page/')
}

/** Local mode listens on loopback only, because of the mailbox and the demo account. */
function listen(server: Server, { port, isProduction }: Env): Promise<void> {
  const host = isProduction ? undefined : '127.0.0.1'
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    // Announce that the connection closes after the answer, or a proxy would send its next request into a closed connection.
    for (const outgoing of answering) if (!outgoing.headersSent) outgoing.setHeader('Connection', 'close')
    setTimeout(() => server.closeAllConnections(), SHUTDOWN_MS - 5_000).unref()
  })
}

/** Serves on while the load balancer learns that it must send its requests elsewhere. */
async function drain({ drainMs }: Env) {
  if (processState.isStopping) return
  stopBeingReady()
  if (server.listening) await sleep(drainMs)
  return stop(0)
}

async function stop(code: number) {
  if (isClosing) return
  isClosing = true
  stopBeingReady()
  setTimeout(() => process.exit(1), SHUTDOWN_MS).unref()
  for (let closer = closers.pop(); closer; closer = closers.pop()) {
    await closer().catch((error) => log().error({ event: 'stop_failed', ...describeError(error) }))
  }
  process.exit(code)
}

function crash(error: unknown) {
  log().fatal({ event: 'crashed', ...describeError(error) })
  return stop(1)
}

/** Shown if there are accounts, but not the demo account. */
const MAKE_AN_ACCOUNT =
  "There is no demo account. To make an account: npm run account -- user create --email you@example.com --password 'correct horse battery' --name You --verified"

function announce(env: Env, demo: { email: string; password: string } | null) {
  // Standard output may be closed or its volume full.
  process.stdout.on('error', () => {})
  if (env.isProduction) return log().info({ event: 'ready', url: env.appUrl })
  const lines = [
    `Ready on ${env.appUrl}`,
    demo && `Demo account: ${demo.email} / ${demo.password}`,
    !demo && MAKE_AN_ACCOUNT,
    env.demoProviderPort && `Demo account without a password: sign in with Demo ID, as ${DEMO_PERSON.name}`,
    env.smtpUrl ? `Mail goes to ${new URL(env.smtpUrl).host}` : `Mail is kept and shown at ${env.appUrl}/dev/mailbox`,
    `API description: ${env.appUrl}/docs/api; for operators: ${env.appUrl}/admin`,
    'Accounts and operators: npm run account -- --help. To stop: Ctrl-C',
  ]
  process.stdout.write(`\n${lines.filter(Boolean).join('\n')}\n\n`)
}

main().catch((error) => {
  // A start that is being stopped fails because its database is closed.
  if (processState.isStopping) return
  // The operator mends a wrong setting or a taken port, so print a sentence and no stack.
  const sentence = error?.code === 'EADDRINUSE' ? portTakenMessage(error.port) : error?.message
  process.stderr.write(`${process.env.DEBUG ? error?.stack : sentence}\n`)
  return stop(1)
})
