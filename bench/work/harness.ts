import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { createUser } from '@/domain/accounts/user'
import type { Context, SystemContext } from '@/domain/context'
import type { Message } from '@/domain/ports'
import { sessionCredential } from '@/domain/sessions/authenticate'
import { findCaller } from '@/domain/sessions/caller'
import { startSession } from '@/domain/sessions/sessions'
import { migrateDeploy } from '@/server/migrate'
import { openContext } from '@/server/open-context'
import { openDatabase } from '../services'

export const PASSWORD = 'correct horse battery'

export interface Bench {
  /** The service without its server. Mail counts as accepted and every password as right. */
  ctx: SystemContext
  db: pg.Client
  dataDir: string
  /** The last message to an address. */
  mailed: Map<string, Message>
  /** An application that answers 204; `heard` gets each body. */
  application: { endpoint: string; heard(body: string): void }
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
    EMAIL_CHANGE_LIMIT: '1000',
    // The last step of a withdrawal is due after 0.9 s.
    WITHDRAWAL_TIME_SCALE: '0.00001',
  })
  const opened = await openContext()
  const mailed: Bench['mailed'] = new Map()
  const application: Bench['application'] = { endpoint: '', heard: () => {} }
  const server = createServer(async (request, response) => {
    application.heard(await text(request))
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  application.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const ctx: SystemContext = {
    ...opened,
    mail: {
      async send({ to, message }) {
        mailed.set(to, message)
        return 'accepted'
      },
      async deleteMessages() {},
    },
    passwords: { ...opened.passwords, verify: async () => true },
  }
  const close = async () => {
    // What the calls began in the background.
    await sleep(500)
    server.closeAllConnections()
    server.close()
    await opened.close()
    await closeDatabase()
  }
  return { ctx, db, dataDir, mailed, application, close }
}

let people = 0
export async function givenCaller(ctx: SystemContext): Promise<{ caller: Context; email: string }> {
  const email = `person.${people++}@example.test`
  const userId = await createUser(ctx, { email, password: PASSWORD, name: 'Ada', emailVerified: true })
  const client = { userAgent: 'bench', ip: '192.0.2.1', authenticatedAt: ctx.clock.now() }
  const sessionId = await startSession(ctx, { userId, credentialVersion: 0, ...client })
  const actor = await findCaller(ctx, sessionCredential(String(sessionId)))
  if (!actor) throw new Error('no session for this person')
  return { caller: { ...ctx, actor, ip: '192.0.2.1', buckets: [] }, email }
}

export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}

export const rounded = (value: number, digits = 1): number => Number(value.toFixed(digits))

export const mib = (bytes: number): number => Math.round(bytes / 1024 / 1024)

export function print(what: string, figures: object) {
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`)
}
