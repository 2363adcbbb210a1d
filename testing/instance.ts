import { type ChildProcess, spawn } from 'node:child_process'
import { freePort, isOk } from './listening'
import { until } from './until'

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  body: any
  ms: number
}

interface Call {
  method?: 'GET' | 'POST'
  path: string
  token: string
  scope: string
  body?: object
  headers?: Record<string, string>
}

export interface StartOptions {
  /** An open file in place of the pipe that is read. */
  stdout?: 'pipe' | number
  /** The folder of another build. */
  release?: string
}

/** The command that starts the build, or the image under `npm run lab -- image`. */
const [program = '', ...args] = process.env.START_COMMAND?.split(' ') ?? [process.execPath, 'dist/server.mjs']

/** One process of the production build. */
export class Instance {
  output = ''
  private readonly ended: Promise<number | null>

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {
    const keep = (chunk: Buffer) => {
      this.output += chunk
    }
    child.stdout?.on('data', keep)
    child.stderr?.on('data', keep)
    this.ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)))
  }

  static async start(
    settings: Record<string, string>,
    { stdout = 'pipe', release = process.cwd() }: StartOptions = {},
  ): Promise<Instance> {
    for (let tries = 1; ; tries++) {
      const port = settings.PORT ?? (await freePort())
      const child = spawn(program, args, {
        env: {
          PATH: process.env.PATH,
          NODE_ENV: 'production',
          NEXT_TELEMETRY_DISABLED: '1',
          ...settings,
          PORT: String(port),
        } as unknown as NodeJS.ProcessEnv,
        stdio: ['ignore', stdout, 'pipe'],
        cwd: release,
      })
      const instance = new Instance(child, `http://127.0.0.1:${port}`)
      if (await (stdout === 'pipe' ? instance.ready() : instance.alive())) return instance
      if (tries === 3 || !instance.output.includes('is taken')) {
        throw new Error(`the instance did not start:\n${instance.output}`)
      }
    }
  }

  private ready(): Promise<boolean> {
    return new Promise((resolve) => {
      this.child.stdout?.on('data', () => /Ready on|"event":"ready"/.test(this.output) && resolve(true))
      this.ended.then(() => resolve(false))
    })
  }

  private async alive(): Promise<boolean> {
    await until('the instance answers or ends', async () => !this.isRunning || (await this.isLive()), 60_000)
    return this.isRunning
  }

  /** Checks liveness, as the health check of the image does. */
  isLive(): Promise<boolean> {
    return isOk(`${this.url}/api/health/live`, { signal: AbortSignal.timeout(3_000) })
  }

  /** Checks readiness, as a load balancer does. */
  async readiness(): Promise<Pick<Answer, 'status' | 'body'>> {
    const response = await fetch(`${this.url}/api/health/ready`)
    return { status: response.status, body: await response.json() }
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  get stdout() {
    return this.child.stdout
  }

  /** The exit code, or the signal that ended the process. */
  async end(): Promise<number | NodeJS.Signals | null> {
    return (await this.ended) ?? this.child.signalCode
  }

  signal(signal: NodeJS.Signals) {
    this.child.kill(signal)
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null
  }

  /** kill -9 */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.ended
  }

  /** SIGTERM; the exit code. */
  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM')
    return this.ended
  }

  async call({ method = 'GET', path, token, scope, body, headers }: Call): Promise<Answer> {
    const startedAt = performance.now()
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        'X-Required-Scope': scope,
        ...(body && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(120_000),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: JSON.parse(text),
      ms: performance.now() - startedAt,
    }
  }
}
