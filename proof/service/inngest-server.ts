import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import path from 'node:path'
import { freePort, listening, takesConnections } from '@/testing/listening'
import { FAULTS_DIR } from '@/testing/run-directory'
import { until } from '@/testing/until'

const CRONS = ['sweep', 'send-notices', 'purge-retained-data']
const [COMMAND = '', ...ARGS] = process.env.INNGEST_CLI ? [process.env.INNGEST_CLI] : ['npx', '--yes', 'inngest-cli']
const newKey = () => randomBytes(16).toString('hex')

/** A real Inngest server on ports of its own, started, killed and started again. */
export class InngestServer {
  /** The Redis that keeps its queue and its runs. Without it they end with the process. */
  redisUrl: string | undefined
  readonly keys = { event: newKey(), signing: newKey() }
  output = ''
  private child: ChildProcess | undefined
  private stateDir = ''

  private constructor(
    private readonly ports: readonly number[],
    private readonly network: EngineNetwork,
  ) {}

  static async prepare(network: EngineNetwork): Promise<InngestServer> {
    const ports: number[] = []
    while (ports.length < 4) {
      const port = await freePort()
      if (!ports.includes(port)) ports.push(port)
    }
    const server = new InngestServer(ports, network)
    await server.loseState()
    return server
  }

  get url() {
    return `http://127.0.0.1:${this.ports[0]}`
  }

  /** The settings by which the service reaches this engine. */
  get settings(): Record<string, string> {
    const { event, signing } = this.keys
    return {
      INNGEST_EVENT_KEY: event,
      INNGEST_SIGNING_KEY: signing,
      INNGEST_BASE_URL: this.url,
      // The SDK tells the engine to call it there.
      INNGEST_SERVE_ORIGIN: this.network.url,
    }
  }

  /** Deletes the state of this server, so that the next start finds nothing. */
  async loseState() {
    this.stateDir = await mkdtemp(path.join(FAULTS_DIR, 'inngest-'))
  }

  /** Resolves once it answers; it may not yet know the functions of the service. */
  async start() {
    const [port, gateway, gatewayGrpc, executorGrpc] = this.ports.map(String) as [string, string, string, string]
    const args = [
      ...['start', '--event-key', this.keys.event, '--signing-key', this.keys.signing, '--poll-interval', '1'],
      ...['--sqlite-dir', this.stateDir, ...(this.redisUrl ? ['--redis-uri', this.redisUrl] : [])],
      ...['--host', '127.0.0.1', '-p', port, '-u', `${this.network.url}/api/inngest`],
      ...['--connect-gateway-port', gateway, '--connect-gateway-grpc-port', gatewayGrpc],
      ...['--connect-executor-grpc-port', executorGrpc],
    ]
    const child = spawn(COMMAND, [...ARGS, ...args], {
      // With npx the server is a child process, so the whole group is killed.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, DO_NOT_TRACK: '1' },
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        this.output += chunk
      })
    }
    this.child = child
    const answers = () =>
      fetch(this.url, { signal: AbortSignal.timeout(2_000) }).then(
        () => true,
        () => child.exitCode !== null,
      )
    await until('the Inngest server answers', answers, 60_000)
    if (child.exitCode !== null) throw new Error(`the Inngest server ended with ${child.exitCode}:\n${this.output}`)
  }

  async end(signal: NodeJS.Signals) {
    const { child } = this
    this.child = undefined
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('close', resolve))
    process.kill(-child.pid, signal)
    await ended
  }
}

/** A Redis of the test's own, which outlives the Inngest server; null where this machine has none. */
export async function startRedis(): Promise<{ url: string; stop(): void } | null> {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', args, { stdio: 'ignore' })
  const isMissing = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(true)).once('spawn', () => resolve(false))
  })
  if (isMissing) return null
  await until('Redis answers', () => takesConnections(port))
  return { url: `redis://127.0.0.1:${port}`, stop: () => void child.kill('SIGKILL') }
}

/** A proxy between an Inngest server and the service. It answers the calls of cron functions itself, so that they never arrive. */
export class EngineNetwork {
  /** Answered calls by method and status, such as `PUT 200`. */
  readonly calls: string[] = []
  serviceUrl = ''
  private lastCallAt = 0
  url = ''
  private server: Server | undefined

  /** No function was called for so long. */
  isQuietFor = (ms: number) => performance.now() - this.lastCallAt > ms

  static async open(): Promise<EngineNetwork> {
    const network = new EngineNetwork()
    network.server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const fnId = new URL(request.url ?? '/', 'http://localhost').searchParams.get('fnId') ?? ''
      if (CRONS.some((name) => fnId.endsWith(`-${name}`))) return response.writeHead(200).end('null')
      const { 'transfer-encoding': _, connection: __, ...headers } = request.headers
      if (request.method === 'POST') network.lastCallAt = performance.now()
      try {
        const answer = await fetch(`${network.serviceUrl}${request.url}`, {
          method: request.method,
          headers: headers as Record<string, string>,
          ...(request.method !== 'GET' && { body: Buffer.concat(chunks) }),
        })
        const body = Buffer.from(await answer.arrayBuffer())
        network.calls.push(`${request.method} ${answer.status}`)
        const { 'content-encoding': ___, 'transfer-encoding': ____, ...back } = Object.fromEntries(answer.headers)
        return response.writeHead(answer.status, { ...back, 'content-length': body.length }).end(body)
      } catch {
        return request.socket.destroy()
      }
    })
    network.url = `http://127.0.0.1:${await listening(network.server)}`
    return network
  }

  close() {
    this.server?.closeAllConnections()
    this.server?.close()
  }
}
