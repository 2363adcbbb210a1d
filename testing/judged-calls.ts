import { expect } from 'vitest'
import * as z from 'zod'
import type { Contract } from '@/contract/define'
import { ERRORS, type ErrorCode } from '@/contract/errors'
import { blocker } from '@/contract/fields'
import { userOperations } from '@/contract/operations'
import { api } from '@/server/http/api'
import { type Answer, type Asking, type call, callsBy, OPERATIONS, readAnswer, request } from './api-calls'
import type { TestContext } from './domain'

const time = z.iso.datetime({ precision: 3 })
/** The operations of the description; those for tokens and sessions have tests of their own. */
export const operations = userOperations.slice(0, 7)
const answerOf = ({ data, message, timestamp }: Contract) =>
  z.strictObject({
    success: z.literal(true),
    data: z.strictObject(data.shape),
    ...(message && { message: z.string().min(1) }),
    ...(timestamp !== false && { timestamp: time }),
  })
const refusal = z.strictObject({
  success: z.literal(false),
  error: z.strictObject({
    code: z.string(),
    message: z.string().min(1),
    details: z.string().min(1),
    blockers: z.array(z.strictObject(blocker.shape)).min(1).optional(),
  }),
  timestamp: time,
})

/** Reads an answer and checks everything that all answers have in common. */
export async function judge(response: Response, operation?: string): Promise<Answer> {
  const answer = await readAnswer(response)
  const { status, headers, code } = answer
  const json = JSON.parse(answer.text)
  expect(headers.get('Content-Type')).toBe('application/json; charset=utf-8')
  expect(headers.get('Cache-Control')).toBe('no-store')
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
  expect(headers.get('X-Request-Id')).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
  expect(headers.has('RateLimit')).toBe(headers.has('RateLimit-Policy'))
  expect(headers.has('Location')).toBe(status === 202)
  expect(headers.has('Allow')).toBe(status === 405)
  if (status < 300) {
    answerOf(OPERATIONS[operation ?? ''] as Contract).parse(json)
    expect(status).toBe(operation === 'withdrawAccount' ? 202 : 200)
    return answer
  }
  const { error } = refusal.parse(json)
  expect(error.blockers !== undefined).toBe(code === 'WITHDRAWAL_003')
  expect({ code, status, message: error.message }).toEqual({
    code,
    status: ERRORS[code as ErrorCode].status,
    message: ERRORS[code as ErrorCode].message,
  })
  const waits = (status === 429 && code !== 'EMAIL_005') || status === 503
  if (code !== 'REQUEST_007') expect({ code, waits: headers.has('Retry-After') }).toEqual({ code, waits })
  if (waits) expect(headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
  expect(headers.has('WWW-Authenticate')).toBe(['AUTH_001', 'AUTH_002', 'WITHDRAWAL_005', 'REAUTH_001'].includes(code))
  return answer
}

export const send = (path: string, init: RequestInit & { duplex?: 'half' } = {}) =>
  api(new Request(`http://localhost${path}`, init), '192.0.2.1')

export const asks: typeof call = async (caller, operation, asking) =>
  judge(await request(caller, operation, asking), operation)
/** A call for this user, without a token unless one is given. */
export const ask = (operation: string, { userId }: { userId: string }, asking?: Asking) =>
  asks({ userId }, operation, asking)
export const { change, verify, resend, withdraw } = callsBy(asks)

/** Every row that a call may leave for these users. */
export async function tracesOf(ctx: TestContext, ...userIds: string[]) {
  const where = { userId: { in: userIds } }
  return {
    requests: await ctx.db.emailChangeRequest.count({ where }),
    limits: await ctx.db.rateLimit.count({ where }),
    keys: await ctx.db.idempotencyKey.count({ where }),
    withdrawals: await ctx.db.withdrawal.count({ where }),
    notices: await ctx.db.notice.count({ where }),
    mails: ctx.mailbox.length,
  }
}
export const NO_TRACE = { requests: 0, limits: 0, keys: 0, withdrawals: 0, notices: 0, mails: 0 }
