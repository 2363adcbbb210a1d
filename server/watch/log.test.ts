import pino from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { createStatusToken } from '@/domain/withdrawal/status-token'
import { processState } from '@/server/process-state'
import { call, change } from '@/testing/api-calls'
import { givenCaller } from '@/testing/callers'
import { testContext } from '@/testing/domain'
import { installContext } from '@/testing/install-context'
import { givenWithdrawal } from '@/testing/withdrawals'
import { createLog, describeError, inRequest, log, outsideRequest, requestIdOf } from './log'
import { logPageError } from './page-error'

const lines: Record<string, unknown>[] = []
processState.log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) })
const eventsOf = (id?: string) => lines.filter(({ requestId }) => requestId === id).map(({ event }) => event)

beforeEach(() => {
  lines.length = 0
})

test("log lines of a request carry its id, also after its answer, and no other request's", async () => {
  const ctx = await testContext()
  let codes = 0
  const bothReceived = Promise.withResolvers<void>()
  const bothAnswered = Promise.withResolvers<void>()
  ctx.mail.send = async ({ message }) => {
    const isCode = message.template === 'verify-new-email'
    if (isCode && ++codes === 2) bothReceived.resolve()
    await (isCode ? bothReceived : bothAnswered).promise
    log().info({ event: 'mail' })
    return 'accepted'
  }
  installContext(ctx)
  const changeAs = async (requestId: string) => {
    const caller = await givenCaller(ctx)
    const { code } = await change(caller, `new-${caller.email}`, { headers: { 'X-Request-Id': requestId } })
    expect(code).toBe('accepted')
  }
  await Promise.all([changeAs('first'), changeAs('second')])
  bothAnswered.resolve()
  await ctx.settle()
  log().info({ event: 'alone' })
  // The second message, to the current address, goes out after the answer.
  for (const id of ['first', 'second']) expect(eventsOf(id)).toEqual(['mail', 'request', 'mail'])
  expect(eventsOf()).toEqual(['alone'])
})

test('a log line has its level as a word, time and the given facts, and nothing about the machine', () => {
  log().info({ event: 'seen' })
  expect(lines).toEqual([{ level: 'info', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), event: 'seen' }])
})

test('nothing is logged below the configured level', () => {
  const written: string[] = []
  const quiet = createLog('warn', { write: (line) => void written.push(line) })
  quiet.info({ event: 'detail' })
  quiet.warn({ event: 'trouble' })
  expect(written.map((line) => JSON.parse(line).event)).toEqual(['trouble'])
})

test('the process has one log, at the level of the settings, on standard output', () => {
  const own = processState.log
  processState.log = undefined
  const first = log()
  expect(first.level).toBe('info')
  expect((first as unknown as Record<symbol, { fd: number }>)[pino.symbols.streamSym]?.fd).toBe(1)
  expect(log()).toBe(first)
  processState.log = own
})

test('work that requests share carries no request id', () => {
  inRequest('first', () => {
    log().info({ event: 'own' })
    outsideRequest(() => log().info({ event: 'shared' }))
  })
  expect(eventsOf('first')).toEqual(['own'])
  expect(eventsOf()).toEqual(['shared'])
})

test.each([
  ['none', undefined],
  ['null', null],
  ['an empty one', ''],
  ['one of 65 characters', 'x'.repeat(65)],
  ['one with a space before', ' a'],
  ['one with a space after', 'a '],
  ['one with a line end', 'a\n'],
  ['one with a sign', 'a"b'],
  ['one with a letter beyond ASCII', 'ä'],
  ['two', ['a', 'b']],
  ['one in a list', ['a']],
])('%s is replaced by a new request id', (_, given) => {
  expect(requestIdOf(given)).toMatch(/^req_[A-Za-z0-9_-]{16}$/)
})

test('kind, code and place of an error are logged, never its message', () => {
  const address = 'ada@example.test'
  const error = Object.assign(new TypeError(`no ${address}\n    at ${address}`), { code: 23505, detail: address })
  expect(describeError(error)).toEqual({
    kind: 'TypeError',
    code: '23505',
    at: expect.stringMatching(/^at .*log\.test\.ts:\d+:\d+\)?$/),
  })
  expect(describeError(new RangeError(address))).toEqual({
    kind: 'RangeError',
    code: undefined,
    at: expect.any(String),
  })
})

test('of an AggregateError the first error is described', () => {
  const first = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
  const several = new AggregateError([first, new TypeError('other')], 'housekeeping failed')
  expect(describeError(several)).toEqual(describeError(first))
})

test('an error without a stack, and a thrown value that is no error, are described by their kind', () => {
  const bare = Object.assign(new Error('ada@example.test'), { stack: undefined })
  expect(describeError(bare)).toEqual({ kind: 'Error', code: undefined, at: undefined })
  const flat = Object.assign(new Error('ada@example.test'), { stack: 'Error: ada@example.test' })
  expect(describeError(flat)).toEqual({ kind: 'Error', code: undefined, at: undefined })
  expect(describeError('ada@example.test')).toEqual({ kind: 'string' })
  expect(describeError({ code: 'ada@example.test' })).toEqual({ kind: 'object' })
})

test('a page that fails is one line with its request and the digest that the person reads, and no message', () => {
  const error = Object.assign(new Error('no ada@example.test'), { digest: '1234', code: 'E_CODE' })
  inRequest('first', () => logPageError(error, '/settings/email'))
  expect(lines).toEqual([
    {
      level: 'error',
      time: expect.any(String),
      requestId: 'first',
      event: 'unexpected_error',
      page: '/settings/email',
      digest: '1234',
      kind: 'Error',
      code: 'E_CODE',
      at: expect.any(String),
    },
  ])
  logPageError(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }), '/settings/email')
  expect(lines[1]).toMatchObject({ event: 'database_away', code: 'ECONNREFUSED' })
})

test('while the database is away, the parts of one page are one line', () => {
  const away = () => logPageError(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }), '/settings/email')
  for (const requestId of ['first', 'first', 'second']) inRequest(requestId, away)
  expect(lines.map(({ requestId }) => requestId)).toEqual(['first', 'second'])
  for (const _part of ['layout', 'page']) away()
  expect(lines).toHaveLength(4)
})

test('polls of an open page are logged below info; a failed poll, and a client with a token, are not', async () => {
  const ctx = await testContext()
  installContext(ctx)
  const { userId, withdrawalId } = await givenWithdrawal(ctx)
  const look = async (token: string) => {
    lines.length = 0
    await call({ userId, token }, 'getWithdrawalStatus', { ids: { withdrawalId } })
    return lines.filter(({ event }) => event === 'request').map(({ level }) => level)
  }
  expect(await look(createStatusToken(ctx, withdrawalId))).toEqual(['debug'])
  expect(await look('none')).toEqual(['info'])
  const caller = await givenCaller(ctx)
  lines.length = 0
  await call(caller, 'getEmailStatus')
  expect(lines).toMatchObject([{ event: 'request', level: 'info', status: 200 }])
})
