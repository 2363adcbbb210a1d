import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { SystemContext } from '@/domain/context'
import { migrateDeploy } from '@/server/migrate'
import { openContext } from '@/server/open-context'
import { listening } from '@/testing/listening'
import { openDatabase } from '../services'

export interface Bench {
  /** The service without its server. Mail counts as accepted. */
  ctx: SystemContext
  db: pg.Client
  dataDir: string
  /** An application that answers 204, and that everybody is absent. */
  application: { endpoint: string }
  close(): Promise<void>
}

export async function openBench(name: string): Promise<Bench> {
  const { dataDir, db, url, close: closeDatabase } = await openDatabase(name)
  await migrateDeploy(url)
  Object.assign(process.env, {
    DATA_DIR: dataDir,
    DATABASE_URL: url,
    AUTH_SECRET: 'auth-secret-of-the-bench',
    CODE_SECRET: 'code-secret-of-the-bench',
    LOG_LEVEL: 'error',
    // The last step of a withdrawal is due after 0.9 s.
    WITHDRAWAL_TIME_SCALE: '0.00001',
  })
  const opened = await openContext()
  const server = createServer(async (request, response) => {
    const { type, data } = JSON.parse(await text(request))
    if (type !== 'account.absence_check') return response.writeHead(204).end()
    response.end(JSON.stringify({ present: false, account: data.account }))
  })
  const port = await listening(server)
  const application = { endpoint: `http://127.0.0.1:${port}/` }
  const ctx: SystemContext = {
    ...opened,
    mail: { send: async () => 'accepted', async deleteMessages() {} },
  }
  const close = async () => {
    // What the calls began in the background.
    await sleep(500)
    server.closeAllConnections()
    server.close()
    await opened.close()
    await closeDatabase()
  }
  return { ctx, db, dataDir, application, close }
}

export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

export const rounded = (value: number, digits = 1): number => Number(value.toFixed(digits))

export const mib = (bytes: number): number => Math.round(bytes / 1024 / 1024)

export function print(what: string, figures: object) {
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`)
}
