import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { expect, test } from 'vitest'
import { createSessionToken } from '@/domain/access/authenticate'
import { givenUser, testContext } from '@/domain/testing'
import { api } from './api'
import { createLog, log } from './log'

const shared = globalThis as { __accountContext?: unknown; __accountLog?: Logger }
const lines: Record<string, unknown>[] = []
shared.__accountLog = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) })

test('what a request does carries its id in the log, after its answer too, and only that', async () => {
  const ctx = await testContext()
  ctx.mail.send = async () => {
    await setTimeout(10)
    log().info({ event: 'mail' })
    return true
  }
  shared.__accountContext = ctx
  const change = async (requestId: string) => {
    const user = await givenUser(ctx)
    const headers = {
      Authorization: `Bearer ${createSessionToken(ctx, user.sessionId).token}`,
      'X-Required-Scope': 'email:manage',
      'Content-Type': 'application/json',
      'X-Request-Id': requestId,
    }
    const body = JSON.stringify({ new_email: `new-${user.email}`, current_password: user.password })
    const url = `http://localhost/api/v1/users/${user.userId}/email/change`
    expect((await api(new Request(url, { method: 'POST', headers, body }), '192.0.2.1')).status).toBe(200)
  }
  await Promise.all([change('first'), change('second')])
  await ctx.settle()
  log().info({ event: 'alone' })
  const eventsOf = (id?: string) => lines.filter(({ requestId }) => requestId === id).map(({ event }) => event)
  // The second message, to the current address, goes out after the answer.
  for (const id of ['first', 'second']) expect(eventsOf(id)).toEqual(['mail', 'request', 'mail'])
  expect(eventsOf()).toEqual(['alone'])
})
