import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'vitest'
import { startEmbeddedPostgres } from '@/server/local/embedded-postgres'
import { migrateDeploy } from '@/server/migrate'
import { runAt } from './raw-sql'
import { FAULTS_DIR } from './run-directory'
import { NOTE_COMPLETIONS } from './step-completions'
import { TcpProxy } from './tcp-proxy'
import { NOTE_TRANSITIONS } from './traces'
import { until } from './until'

interface ClusterOptions {
  /** Called with the directory of the cluster before anything is in it. */
  prepare?(directory: string): void
  /** The executables of another PostgreSQL. */
  bin?: string | undefined
}

/** A PostgreSQL of the test's own, to stop and start again behind one address. */
export class Cluster {
  readonly dataDir = path.join(FAULTS_DIR, `cluster-${randomBytes(6).toString('hex')}`)
  /** The server takes a new port whenever it starts; its clients know this one. */
  private readonly proxy = new TcpProxy()
  private server: { url: string; stop(): Promise<void> } | undefined

  private constructor(private readonly bin: string | undefined) {}

  static async start(
    test: Pick<TestContext, 'onTestFinished'>,
    { prepare, bin }: ClusterOptions = {},
  ): Promise<Cluster> {
    const cluster = new Cluster(bin)
    prepare?.(cluster.dataDir)
    const url = await cluster.comeUp()
    test.onTestFinished(() => cluster.goDown('fast'))
    await migrateDeploy(url)
    await runAt(url, NOTE_COMPLETIONS + NOTE_TRANSITIONS)
    return cluster
  }

  get place() {
    const url = Object.assign(new URL(this.server?.url ?? ''), { port: String(this.proxy.port) })
    return { databaseUrl: url.href, postgresLogs: [this.dataDir] }
  }

  async comeUp(meanwhile?: (url: string) => Promise<unknown>): Promise<string> {
    this.server = await startEmbeddedPostgres({ dataDir: this.dataDir, bin: this.bin })
    await meanwhile?.(this.server.url)
    await this.proxy.open(Number(new URL(this.server.url).port))
    return this.server.url
  }

  /** The process id of the server, null when none runs. */
  get pid(): number | null {
    try {
      const pid = Number.parseInt(readFileSync(path.join(this.dataDir, 'pg/postmaster.pid'), 'utf8'), 10)
      return pid && isAlive(pid) ? pid : null
    } catch {
      return null
    }
  }

  /** `fast` as an operator stops it; `killed` by kill -9, so that it has to recover. */
  async goDown(how: 'fast' | 'killed'): Promise<void> {
    const { pid } = this
    if (how === 'killed' && pid) {
      process.kill(pid, 'SIGKILL')
      await until('the server process is gone', () => !isAlive(pid))
    }
    // After a kill this only says that this process uses the server no more.
    await this.server?.stop()
    await this.proxy.shut()
  }

  /**
   * Copies the server. The returned function puts the copy in its place after a kill: as a replica that takes over, or as a base backup
   * that is restored, which keeps its timeline. `meanwhile` runs before anybody else reaches it.
   */
  async keepCopy(): Promise<
    (as: 'replica' | 'backup', meanwhile?: (url: string) => Promise<unknown>) => Promise<void>
  > {
    const [primary, kept] = [path.join(this.dataDir, 'pg'), `${this.dataDir}-copy`]
    await this.goDown('fast')
    execFileSync('cp', ['-a', primary, kept])
    await this.comeUp()
    return async (as, meanwhile) => {
      await this.goDown('killed')
      rmSync(primary, { recursive: true })
      execFileSync('cp', ['-a', kept, primary])
      if (as === 'replica') {
        // The end of a recovery begins a timeline, as a promotion does.
        appendFileSync(path.join(primary, 'postgresql.auto.conf'), "\nrestore_command = 'false'\n")
        writeFileSync(path.join(primary, 'recovery.signal'), '')
      }
      await this.comeUp(meanwhile)
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
