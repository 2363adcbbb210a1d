import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'vitest'
import { freePort } from '@/testing/listening'
import { until } from '@/testing/until'

const PROGRAM = [process.env.HAPROXY, '/usr/sbin/haproxy'].find((file) => file && existsSync(file))
export const hasHaProxy = PROGRAM !== undefined

interface HaProxy {
  url: string
  /** Waits until the proxy sends requests to this server. */
  untilUp(name: string): Promise<void>
}

/** A load balancer before these servers (host and port) that asks whether they are ready, and never sends a request twice. */
export async function startHaProxy(
  test: Pick<TestContext, 'onTestFinished'>,
  servers: Record<string, string>,
): Promise<HaProxy> {
  const [port, statsPort] = [await freePort(), await freePort()]
  const directory = await mkdtemp(path.join(tmpdir(), 'haproxy-'))
  const file = path.join(directory, 'haproxy.cfg')
  const lines = Object.entries(servers).map(([name, address]) => `  server ${name} ${address}`)
  await writeFile(
    file,
    `defaults
  mode http
  retries 0
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend public
  bind 127.0.0.1:${port}
  default_backend service
backend service
  balance roundrobin
  http-reuse always
  option httpchk GET /api/health/ready
  http-check send hdr Host localhost
  default-server check inter 200ms fall 2 rise 1
${lines.join('\n')}
listen figures
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /
`,
  )
  const child = spawn(PROGRAM ?? '', ['-db', '-f', file], { stdio: 'ignore' })
  test.onTestFinished(async () => {
    child.kill('SIGKILL')
    await rm(directory, { recursive: true })
  })
  const figures = async () => (await fetch(`http://127.0.0.1:${statsPort}/;csv`)).text()
  return {
    url: `http://127.0.0.1:${port}`,
    untilUp: async (name) => {
      await until(`${name} is up`, async () =>
        new RegExp(`^service,${name},.*,UP,`, 'm').test(await figures().catch(() => '')),
      )
    },
  }
}
