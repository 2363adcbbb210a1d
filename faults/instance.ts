import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

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

  static async start(settings: Record<string, string>): Promise<Instance> {
    for (let tries = 1; ; tries++) {
      const port = await freePort()
      const child = spawn(process.execPath, ['dist/server.mjs'], {
        env: {
          PATH: process.env.PATH,
          NODE_ENV: 'production',
          NEXT_TELEMETRY_DISABLED: '1',
          PORT: String(port),
          ...settings,
        } as unknown as NodeJS.ProcessEnv,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const instance = new Instance(child, `http://127.0.0.1:${port}`)
      if (await instance.ready()) return instance
      if (tries === 3 || !instance.output.includes('EADDRINUSE')) {
        throw new Error(`the instance did not start:\n${instance.output}`)
      }
    }
  }

  private ready(): Promise<boolean> {
    return new Promise((resolve) => {
      this.child.stdout?.on('data', () => this.output.includes('Ready on') && resolve(true))
      this.ended.then(() => resolve(false))
    })
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
      signal: AbortSignal.timeout(60_000),
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

/** Below the range from which the system itself gives ports away. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000)
    const isFree = await new Promise<boolean>((resolve) => {
      const probe = createServer()
      probe.once('error', () => resolve(false))
      probe.listen(port, () => probe.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
