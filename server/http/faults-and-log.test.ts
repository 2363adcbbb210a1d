import { randomBytes } from 'node:crypto'
import { beforeEach, expect, inject, test } from 'vitest'
import { createUser } from '@/domain/accounts/user'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { codeSentTo, wrongCode } from '@/testing/account'
import { type Caller, call, hour } from '@/testing/api-calls'
import { callerOf, givenCaller, givenChange } from '@/testing/callers'
import { createDatabase } from '@/testing/database'
import type { TestContext } from '@/testing/domain'
import { installContext, installed, logged } from '@/testing/install-context'
import { ask, asks, change, judge, operations, send, tracesOf, verify, withdraw } from '@/testing/judged-calls'
import { runAt } from '@/testing/raw-sql'
import { atStatement } from '@/testing/statements'
import { openDatabase } from '../adapters/database'

let ctx: TestContext
let caller: Caller

beforeEach(async () => {
  ctx = await installed()
  caller = await givenCaller(ctx)
})

const failing = (error: unknown) => {
  installContext({ ...ctx, sql: () => Promise.reject(error), transact: () => Promise.reject(error) })
}
const pgError = (code: string, message = 'canary-of-the-database') => Object.assign(new Error(message), { code })

test.each(operations.map(({ name }) => name))(
  '%s answers 503 when no database listens, and reveals nothing',
  async (name) => {
    const nowhere = openDatabase('postgresql://canary-user:canary-password@127.0.0.1:1/canary')
    installContext({ ...ctx, sql: nowhere.sql, transact: nowhere.transact })
    const answer = await asks(caller, name)
    await nowhere.close()
    expect([answer.code, answer.headers.get('Retry-After')]).toEqual(['SERVER_002', '5'])
    expect(answer.text).not.toContain('canary')
  },
)

test.each([
  ['takes no connections', {}],
  ['is missing', { pathname: 'no_such_database' }],
  ['refuses the password', { password: 'another' }],
])('while the database %s the answer is 503 with a time to wait', async (_, place) => {
  const url = new URL(await createDatabase())
  await runAt(inject('adminUrl'), `ALTER DATABASE ${url.pathname.slice(1)} ALLOW_CONNECTIONS false`)
  const refusing = openDatabase(Object.assign(url, place).href)
  installContext({ ...ctx, sql: refusing.sql, transact: refusing.transact })
  const answer = await asks(caller, 'getEmailStatus')
  await refusing.close()
  expect([answer.code, answer.headers.get('Retry-After')]).toEqual(['SERVER_002', '5'])
})

test.each([
  ['the server shuts down', pgError('57P01')],
  ['there are too many connections', pgError('53300')],
  ['the disk is full', pgError('53100')],
  ['a statement takes too long', pgError('57014')],
  ['the server takes no writes', pgError('25006')],
  ['the connection breaks', pgError('ECONNRESET')],
  ['the connection is lost', pgError('', 'Connection terminated unexpectedly')],
  ['no connection comes free', pgError('', 'timeout exceeded when trying to connect')],
  ['no answer comes', pgError('', 'Query read timeout')],
  ['no address answers', new AggregateError([pgError('ECONNREFUSED')])],
])('when %s the answer is 503 with a time to wait', async (_, error) => {
  failing(error)
  const answer = await asks(caller, 'getEmailStatus')
  expect([answer.code, answer.headers.get('Retry-After')]).toEqual(['SERVER_002', '5'])
  expect(answer.text).not.toContain('canary')
})

test.each(['40P01', '40001'])(
  'what other transactions undid at every try (%s) is answered with 503, and not told as an absent database',
  async (code) => {
    failing(pgError(code))
    const lines = logged()
    const answer = await asks(caller, 'getEmailStatus')
    expect([answer.code, answer.headers.get('Retry-After')]).toEqual(['SERVER_002', '5'])
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(['database_contended', 'request'])
  },
)

test.each([
  ['an error', new Error('canary: SELECT password FROM /srv/app/server')],
  ['an error of the database about our own statement', pgError('42703')],
  ['a broken rule of the database', pgError('23503')],
  ['a text', 'canary'],
  ['nothing', undefined],
  ['an object that looks like an answer', { code: 'AUTH_001', status: 200, details: 'canary' }],
])('%s that is unexpected is answered with 500, and reveals nothing', async (_, error) => {
  failing(error)
  const { code, text } = await asks(caller, 'getEmailStatus')
  expect(code).toBe('SERVER_001')
  expect(text).not.toMatch(/canary|SELECT|\/srv|at \w|node_modules/)
})

test('a fault in the middle of a withdrawal leaves the account as it was', async () => {
  for (const last of ['end-account-access', 'plan-withdrawal', 'queue-withdrawal-messages']) {
    const dying = async (run: () => Promise<object[]>) => {
      await run()
      throw pgError('57P01')
    }
    installContext(atStatement(ctx, last, dying))
    expect((await withdraw(caller)).code).toBe('SERVER_002')
    installContext(ctx)
    expect((await tracesOf(ctx, caller.userId)).withdrawals).toBe(0)
    expect((await asks(caller, 'getEmailStatus')).code).toBe('accepted')
  }
  expect((await withdraw(caller)).code).toBe('accepted')
})

test('a notice that cannot be marked as sent counts as sent', async () => {
  const { id, code } = await givenChange(ctx, caller)
  installContext(atStatement(ctx, 'mark-notices-sent', () => Promise.reject(pgError('57P01'))))
  const answer = await verify(caller, id, code)
  expect([answer.code, answer.data.notification_sent]).toEqual(['accepted', true])
})

// ---- logs ----

test.each([
  ['changeEmail', { new_email: 'new@example.test', current_password: 'wrong' }],
  ['changePassword', { new_password: 'another password', current_password: 'wrong' }],
])(
  '%s of a client that has gone before its password was checked takes no place in a limit',
  async (operation, body) => {
    ctx = await installed({ password: { places: 1, windowMs: hour } })
    const caller = await givenCaller(ctx)
    const client = new AbortController()
    const { passwords } = ctx
    ctx.passwords = {
      ...passwords,
      verify(...check) {
        client.abort()
        return passwords.verify(...check)
      },
    }
    expect((await call(caller, operation, { body, signal: client.signal })).code).toBe('SERVER_002')
    expect((await call(caller, operation, { body })).code).toBe('EMAIL_007')
  },
)

test('no line of the log holds a name, an address, a password, a code, a token, a key or what the caller wrote', async () => {
  const mark = `canary${randomBytes(6).toString('hex')}`
  const email = `${mark}@example.test`
  const password = `${mark} password`
  const userId = await createUser(ctx, { email, password, name: `${mark} Lovelace`, emailVerified: true })
  const caller = await callerOf(ctx, { userId, email }, password)
  const session = createSessionToken(ctx, caller.sessionId).token
  const lines = logged()
  const headers = {
    'User-Agent': `${mark}\x1b[31m`,
    'Idempotency-Key': mark,
    'X-Request-Id': `${mark} {"level":60}`,
    Cookie: mark,
    Referer: `https://${mark}.test`,
  }
  const asking = { headers }
  await change(caller, `New-${email}`, asking)
  const code = codeSentTo(ctx, `New-${email}`)
  const id = String((await change(caller, `New-${email}`, asking)).data.change_request_id)
  await change({ ...caller, password: `${mark} wrong` }, `x-${email}`)
  await change(caller, `${mark} not an address`)
  await asks(caller, 'changeEmail', { raw: `{"${mark}":` })
  await verify(caller, id, wrongCode(code))
  await verify(caller, mark, mark)
  await ask('getEmailStatus', { userId: mark }, { token: session })
  await ask('getEmailStatus', caller, { token: `uat_${mark}` })
  await judge(await send(`/api/v1/${mark}?token=${mark}`))
  await ctx.settle()
  const { send: take } = ctx.mail
  ctx.mail.send = () => Promise.reject(new Error(`550 ${email} ${code}`))
  expect((await change(caller, `y-${email}`)).code).toBe('SERVER_001')
  ctx.mail.send = take
  failing(pgError('23505', `duplicate key (${email})`))
  expect((await asks(caller, 'getEmailStatus')).code).toBe('SERVER_001')
  installContext(ctx)
  expect((await verify(caller, id, code)).code).toBe('accepted')
  await withdraw(caller, { body: { confirmation: 'DELETE_MY_ACCOUNT', feedback: mark }, headers })
  await ctx.settle()
  expect(lines.length).toBeGreaterThanOrEqual(14)
  const secrets = [mark, email, password, code, caller.token, session, 'Lovelace', '\x1b']
  for (const secret of secrets) expect(lines.filter((line) => line.includes(secret))).toEqual([])
})

test('every answer leaves one line with its request id, its operation, its caller, its status and its code', async () => {
  const lines = logged()
  await asks(caller, 'getEmailStatus', { headers: { 'X-Request-Id': 'one' } })
  await asks(caller, 'getEmailStatus', { headers: { 'X-Request-Id': 'two' }, scope: null })
  await judge(await send('/api/v1/nothing', { headers: { 'X-Request-Id': 'three' } }))
  const { userId } = caller
  const operation = 'getEmailStatus'
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'request', requestId: 'one', operation, userId, status: 200 },
    { event: 'request', requestId: 'two', operation, userId, status: 403, code: 'AUTH_002' },
    { event: 'request', requestId: 'three', status: 404, code: 'REQUEST_005' },
  ])
})
