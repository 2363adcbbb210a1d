import { beforeEach, describe, expect, test } from 'vitest'
import type { GrantableScope as Scope } from '@/contract/define'
import { operations as all, userOperations } from '@/contract/operations'
import { withdrawAccount as withdrawContract } from '@/contract/withdrawal'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { signOut } from '@/domain/sessions/sign-ins'
import { wrongCode } from '@/testing/account'
import { type Answer, type Asking, type Caller, day, hour, minute, NOBODYS_IDS, OPERATIONS } from '@/testing/api-calls'
import { givenCaller, givenChange, givenToken } from '@/testing/callers'
import { givenSession, pass, type TestContext } from '@/testing/domain'
import { installed } from '@/testing/install-context'
import {
  ask,
  asks,
  change,
  judge,
  NO_TRACE,
  operations,
  resend,
  send,
  tracesOf,
  verify,
  withdraw,
} from '@/testing/judged-calls'

let ctx: TestContext
let caller: Caller

beforeEach(async () => {
  ctx = await installed()
  caller = await givenCaller(ctx)
})

const POSTS = operations.filter((contract) => contract.method === 'POST').map(({ name }) => name)

const BOTH: Scope[] = ['email:manage', 'account:manage']

const withoutTimestamp = (text: string) => text.replace(/"timestamp":"[^"]+"/, '')
const comparable = ({ status, text, headers }: Answer) => {
  const { 'x-request-id': _, ...rest } = Object.fromEntries(headers)
  return { status, text: withoutTimestamp(text), headers: rest }
}

// ---- who may call ----

test.each(all.filter((contract) => contract.scope).map(({ name }) => name))(
  'B22 B25 L12 %s answers every invalid credential with 401 and a challenge, and leaves no trace',
  async (name) => {
    const [caller, stranger] = [await givenCaller(ctx), await givenCaller(ctx)]
    const revoked = await givenToken(ctx, caller.userId)
    await ctx.db.accessToken.update({ where: { id: revoked.id }, data: { revokedAt: ctx.clock.now() } })
    const ended = await givenSession(ctx, caller.userId)
    await signOut(ctx, ended)
    const tenMinutesAgo = { now: () => new Date(ctx.clock.now().getTime() - 10 * minute) }
    const session = createSessionToken(ctx, caller.sessionId).token
    const kinds: Record<string, string> = {
      'a word': 'Bearer junk',
      'a percent sign': 'Bearer %',
      'eight kilobytes': `Bearer ${'a'.repeat(8192)}`,
      'no token after the scheme': 'Bearer ',
      'two words after the scheme': 'Bearer x y',
      'another scheme': 'Basic dXNlcjpwYXNzd29yZA==',
      'the token without a scheme': `Token ${caller.token}`,
      'two tokens': `Bearer ${caller.token}, Bearer ${caller.token}`,
      'an unknown access token': `Bearer uat_${ctx.secrets.randomToken()}`,
      'an access token cut short': `Bearer ${caller.token.slice(0, -1)}`,
      'an expired access token': `Bearer ${(await givenToken(ctx, caller.userId, BOTH, 0)).token}`,
      'a revoked access token': `Bearer ${revoked.token}`,
      'a token of an ended session': `Bearer ${createSessionToken(ctx, ended).token}`,
      'a session token after ten minutes': `Bearer ${createSessionToken({ ...ctx, clock: tenMinutesAgo }, caller.sessionId).token}`,
      'a session token with a later end': `Bearer ${session.replace(/\.(\d+)\./, (_, at) => `.${Number(at) + 60}.`)}`,
      'a session token of another session': `Bearer ${session.replace(caller.sessionId, stranger.sessionId)}`,
      'a session id': `Bearer ${caller.sessionId}`,
      'a made-up status token': `Bearer wst_${ctx.secrets.randomToken()}`,
      'a JWT without signature': 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.',
    }
    for (const [kind, token] of Object.entries(kinds)) {
      const answer = await ask(name, caller, { token })
      // A caller without a bearer token is not told that it was invalid.
      const challenge = /^Bearer \S/.test(token) ? 'Bearer error="invalid_token"' : 'Bearer'
      expect({ kind, code: answer.code, challenge: answer.headers.get('WWW-Authenticate') }).toEqual({
        kind,
        code: 'AUTH_001',
        challenge,
      })
    }
    const cookies = { Cookie: `next-auth.session-token=${session}; __Host-next-auth.session-token=${session}` }
    const none = [{}, cookies, { 'X-User-ID': caller.userId }, { 'x-middleware-subrequest': 'middleware' }]
    for (const headers of none as Record<string, string>[]) {
      const answer = await ask(name, caller, { headers })
      expect([answer.code, answer.headers.get('WWW-Authenticate')]).toEqual(['AUTH_001', 'Bearer'])
    }
    expect(await tracesOf(ctx, caller.userId, stranger.userId)).toEqual(NO_TRACE)
  },
)

test('a call without a token is told which one its path wants', async () => {
  const caller = await givenCaller(ctx)
  const wanted = {
    getEmailStatus: 'a valid access token',
    getPasswordReset: 'the token of the mailed link',
    previewRequestedWithdrawal: 'the token of the mailed link',
    reportOnTask: 'the report_token of the task',
    getUser: 'a valid service token',
    listReceipts: 'the status_token of the withdrawal',
  }
  for (const [name, token] of Object.entries(wanted)) {
    const { code, details } = await ask(name, caller, { token: 'Bearer ' })
    expect({ name, code, details }).toEqual({
      name,
      code: 'AUTH_001',
      details: `Send Authorization: Bearer with ${token}.`,
    })
  }
})

test('a refusal for a missing permission names the header, the scope or the path that does not fit', async () => {
  const [caller, stranger] = [await givenCaller(ctx), await givenCaller(ctx)]
  const narrow = (await givenToken(ctx, caller.userId, ['account:manage'])).token
  const refused = {
    header: await ask('getEmailStatus', caller, { token: caller.token, scope: null }),
    scope: await ask('getEmailStatus', caller, { token: narrow }),
    session: await ask('listSessions', caller, { token: caller.token, scope: 'tokens:manage' }),
    path: await ask('getEmailStatus', stranger, { token: caller.token }),
    receipts: await ask('listReceipts', { userId: 'x' }, { token: caller.token }),
    service: await ask('putUser', { userId: 'x' }, { token: caller.token }),
  }
  expect(Object.fromEntries(Object.entries(refused).map(([what, { details }]) => [what, details]))).toEqual({
    header: 'Send the header X-Required-Scope: email:manage exactly once.',
    scope: 'The token does not hold the scope email:manage.',
    session: 'Only a browser session holds the scope tokens:manage; no access token can.',
    path: 'The path names another user than the one of the token.',
    receipts: 'This path opens with the status token of its withdrawal only.',
    service: 'This path opens with a service token only.',
  })
})

const scoped = userOperations.filter(({ scope }) => scope)

describe.each(scoped.map((contract) => [contract.name, contract] as const))('%s', (name, contract) => {
  const { scope, forbidden } = contract
  const insufficient = `Bearer error="insufficient_scope", scope="${scope}"`
  const other: Scope = scope === 'email:manage' ? 'account:manage' : 'email:manage'

  test('L12 refuses a scope that the token lacks or the header does not name, and leaves no trace', async () => {
    const session = createSessionToken(ctx, caller.sessionId).token
    const kinds: Record<string, Asking> = {
      'a token of the other scope': { token: (await givenToken(ctx, caller.userId, [other])).token },
      'a token without scope': { token: (await givenToken(ctx, caller.userId, [])).token },
      'no scope header': { token: caller.token, scope: null },
      'no scope header with a session': { token: session, scope: null },
      'an empty scope header': { token: caller.token, scope: '' },
      'the other scope': { token: caller.token, scope: other },
      'both scopes': { token: caller.token, scope: BOTH.join(' ') },
      'the scope twice': { token: caller.token, headers: [['X-Required-Scope', contract.scope]] },
      'the scope and the other': { token: caller.token, headers: [['X-Required-Scope', other]] },
      'the scope in capitals': { token: caller.token, scope: contract.scope.toUpperCase() },
      'a wildcard': { token: caller.token, scope: '*' },
    }
    for (const [kind, asking] of Object.entries(kinds)) {
      const answer = await ask(name, caller, asking)
      expect({ kind, code: answer.code, challenge: answer.headers.get('WWW-Authenticate') }).toEqual({
        kind,
        code: forbidden,
        challenge: insufficient,
      })
    }
    expect(await tracesOf(ctx, caller.userId)).toEqual(NO_TRACE)
  })

  test("B28 L12 answers another user's path and an unknown user's path alike, whatever the body says", async () => {
    const [caller, stranger] = [await givenCaller(ctx), await givenCaller(ctx)]
    const session = { ...caller, token: createSessionToken(ctx, caller.sessionId).token }
    const nobodies = [ctx.secrets.randomId('usr_'), 'x', '%00', `${caller.userId}%20`, 'a'.repeat(500)]
    for (const { token } of [caller, session]) {
      const theirs = await ask(name, stranger, { token })
      expect(theirs).toMatchObject({ code: forbidden })
      expect(theirs.headers.get('WWW-Authenticate')).toBe(insufficient)
      for (const userId of nobodies) {
        expect(comparable(await ask(name, { userId }, { token }))).toEqual(comparable(theirs))
      }
      if (contract.method === 'POST') {
        for (const body of [{}, { userId: caller.userId }]) {
          expect(comparable(await ask(name, stranger, { token, body }))).toEqual(comparable(theirs))
        }
      }
    }
    expect(await tracesOf(ctx, caller.userId, stranger.userId)).toEqual(NO_TRACE)
  })
})

describe.each(operations.map((contract) => [contract.name, contract] as const))('%s', (name, contract) => {
  const { forbidden } = contract

  test('L12 accepts an access token and a session token', async () => {
    const expected: Record<string, string> = {
      changeEmail: 'EMAIL_007',
      verifyEmail: 'EMAIL_006',
      getEmailStatus: 'accepted',
      resendVerification: 'EMAIL_006',
      cancelEmailChange: 'EMAIL_006',
      withdrawAccount: 'WITHDRAWAL_001',
      getWithdrawalStatus: 'WITHDRAWAL_004',
    }
    const bodies: Record<string, unknown> = {
      changeEmail: { new_email: 'x@b.test', current_password: 'wrong' },
      withdrawAccount: { confirmation: 'no' },
    }
    const asking = { body: bodies[name] }
    const single = (await givenToken(ctx, caller.userId, [contract.scope as Scope])).token
    const session = createSessionToken(ctx, caller.sessionId).token
    for (const token of [caller.token, single, session, `bearer  ${caller.token}`]) {
      expect((await ask(name, caller, { ...asking, token })).code).toBe(expected[name])
    }
  })

  test('B23 ignores a query that names a caller', async () => {
    const [caller, stranger] = [await givenCaller(ctx), await givenCaller(ctx)]
    const query = `?userId=${caller.userId}&nxtPuserId=${caller.userId}`
    for (const token of [caller.token, createSessionToken(ctx, caller.sessionId).token]) {
      expect((await ask(name, stranger, { token, query })).code).toBe(forbidden)
    }
  })

  test('reports the first error in the order of the contract', async () => {
    const path = `/api/v1${contract.path.replace(/\{(\w+)\}/g, 'x')}`
    const wrongMethod = contract.method === 'GET' ? 'POST' : 'PUT'
    const all = { method: wrongMethod, headers: { 'Content-Type': 'text/plain' }, body: '{'.repeat(20_000) }
    expect((await judge(await send(path, all))).code).toBe('REQUEST_004')
    if (contract.method === 'POST') {
      const big = ' '.repeat(16_385)
      expect((await ask(name, caller, { type: 'text/plain', raw: big })).code).toBe('REQUEST_003')
      expect((await ask(name, caller, { raw: big })).code).toBe('REQUEST_002')
      expect((await ask(name, caller, { raw: '{' })).code).toBe('REQUEST_001')
    }
    const ids = { userId: 'usr_nobody' }
    expect((await ask(name, caller, { ids, scope: null, body: [] })).code).toBe('AUTH_001')
    expect((await ask(name, caller, { ids, token: caller.token, scope: null, body: [] })).code).toBe(forbidden)
    expect((await ask(name, caller, { ids, token: caller.token, body: [] })).code).toBe(forbidden)
  })
})

// ---- paths and methods ----

const ALLOW = [...Map.groupBy(all, ({ path }) => path)].map(
  ([path, there]) => [path, there.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))] as const,
)

test.each(ALLOW)('%s allows %s and answers every other method with 405', async (path, allow) => {
  const { userId, token } = await givenCaller(ctx)
  const url = `/api/v1${path.replace('{userId}', userId).replace(/\{\w+\}/g, 'x')}`
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY']) {
    if (allow.includes(method)) continue
    const answer = await judge(await send(url, { method, headers: { Authorization: `Bearer ${token}` } }))
    expect([method, answer.code]).toEqual([method, 'REQUEST_004'])
    expect(answer.headers.get('Allow')?.split(', ').sort()).toEqual([...allow].sort())
  }
})

test('HEAD is answered as GET', async () => {
  const headers = { Authorization: `Bearer ${caller.token}`, 'X-Required-Scope': 'email:manage' }
  const path = `/api/v1/users/${caller.userId}/email/status`
  expect((await send(path, { method: 'HEAD', headers })).status).toBe(200)
  expect((await send(path, { method: 'HEAD' })).status).toBe(401)
})

test.each([
  '',
  '/users/ID',
  '/users/ID/email/status/',
  '/users/ID/email//status',
  '//users/ID/email/status',
  '/users//email/status',
  '/users/ID/email/STATUS',
  '/users/ID/email/%73tatus',
  '/users/ID%2Femail%2Fstatus',
  '/users/ID/email/status;x=1',
  '/users/ID/email/status.rsc',
  '/users/ID/email/status/more',
  '/users/%zz/email/status',
  '/users/%c3/email/status',
  '/users/ID%/email/status',
  '/users/ID/withdrawal/%ff',
])('/api/v1%s does not exist: 404 in the envelope, without a redirect', async (path) => {
  const headers = { Authorization: `Bearer ${caller.token}`, 'X-Required-Scope': 'email:manage' }
  const answer = await judge(await send(`/api/v1${path.replace('ID', caller.userId)}`, { headers }))
  expect(answer.code).toBe('REQUEST_005')
})

test('a path that does not exist stays unknown for every method', async () => {
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
    expect((await judge(await send('/api/v1/nothing', { method }))).code).toBe('REQUEST_005')
  }
})

// ---- media type, size, syntax ----

describe.each(POSTS)('the body of %s', (name) => {
  test.each([
    null,
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'application/problem+json',
    'application/json, application/json',
    'application/json; charset=utf-16',
    'application/json; charset=',
    'application/json; charset="utf-8',
  ])('sent as %s is refused with 415', async (type) => {
    expect((await asks(caller, name, { type })).code).toBe('REQUEST_003')
    expect(await tracesOf(ctx, caller.userId)).toEqual(NO_TRACE)
  })

  test('sent compressed is refused with 415', async () => {
    const headers = { 'Content-Encoding': 'gzip' }
    expect((await ask(name, { userId: 'x' }, { headers })).code).toBe('REQUEST_003')
  })

  test.each([
    'APPLICATION/JSON',
    'application/json;charset=utf-8',
    'application/json; charset="UTF-8"',
    'application/json;',
    'application/json; profile=x',
  ])('sent as %s is read', async (type) => {
    expect((await ask(name, { userId: 'x' }, { type })).code).toBe('AUTH_001')
  })

  test('may have 16384 bytes and not one more', async () => {
    const padded = (size: number) => `{}${' '.repeat(size - 2)}`
    expect((await ask(name, { userId: 'x' }, { raw: padded(16_384) })).code).toBe('AUTH_001')
    expect((await ask(name, { userId: 'x' }, { raw: padded(16_385) })).code).toBe('REQUEST_002')
    const twoBytesEach = `{"a":"${'é'.repeat(8_189)}"}`
    expect((await ask(name, { userId: 'x' }, { raw: twoBytesEach })).code).toBe('REQUEST_002')
  })

  test('with a Content-Length that is too large is not read at all', async () => {
    let pulls = 0
    const raw = new ReadableStream({ pull: () => void pulls++ }, { highWaterMark: 0 })
    const answer = await ask(name, { userId: 'x' }, { raw, headers: { 'Content-Length': '16385' } })
    expect([answer.code, pulls]).toEqual(['REQUEST_002', 0])
  })

  test('that does not end is cut off after 16 KiB', async () => {
    const claims: Record<string, string>[] = [{}, { 'Content-Length': 'x' }]
    for (const headers of claims) {
      let pulls = 0
      let isCancelled = false
      const raw = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (++pulls === 64) return controller.close()
            controller.enqueue(new Uint8Array(1024).fill(0x20))
          },
          cancel() {
            isCancelled = true
          },
        },
        { highWaterMark: 0 },
      )
      const answer = await ask(name, { userId: 'x' }, { raw, headers })
      expect(answer.code).toBe('REQUEST_002')
      expect(pulls).toBeLessThanOrEqual(18)
      expect(isCancelled).toBe(true)
    }
  })

  test.each([
    ['empty', ''],
    ['with a key that stands twice, once escaped', '{"confirmation":"x","\\u0063onfirmation":"DELETE_MY_ACCOUNT"}'],
    ['six containers deep', '{"a":[[[[[]]]]]}'],
  ])('that is %s is refused with 400 before any token is looked at', async (_, raw) => {
    expect((await ask(name, { userId: 'x' }, { raw })).code).toBe('REQUEST_001')
  })

  test('that is not UTF-8 is refused with 400', async () => {
    const answer = await ask(name, { userId: 'x' }, { raw: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]) })
    expect([answer.code, answer.details]).toEqual(['REQUEST_001', 'The body is not valid UTF-8.'])
  })

  test('that is no object is refused, and counts only in the limit of verify calls', async () => {
    for (const body of [[], [{}], 'text', 1, true, null]) {
      const answer = await asks(caller, name, { body })
      expect([answer.code, answer.details]).toEqual(['REQUEST_001', 'The body must be a JSON object.'])
    }
    expect(await tracesOf(ctx, caller.userId)).toEqual({ ...NO_TRACE, limits: name === 'verifyEmail' ? 1 : 0 })
  })
})

// ---- the types of all fields ----

const NOT_TEXT = [
  ...[null, 0, 123456, true, false, [], ['x'], [[[]]], {}, { not: '' }, { contains: '@' }, { $ne: 1 }],
  ...['toString', 'valueOf', 'toJSON', 'then', 'constructor', '__proto__'].map((name) => ({ [name]: 1 })),
  [{ toString: 1 }],
]
const ODD_TEXT = ['', ' ', '\u0000', 'a\u0000b', '\ud800', '\udc00x', '\u202e', '\ufeff', "' OR 1=1 --", '{{7*7}}']
const NO_ID = [...NOT_TEXT, ...ODD_TEXT, 'x'.repeat(10_000), NOBODYS_IDS.changeRequestId]
const NO_CODE = ['12345', '1234567', '１２３４５', '12345a', ' 12345', '123456\n', '-12345', ['042137']]
const NO_PASSWORD = ['', '\u0000', 'a\u0000b', '\ud800', 'x'.repeat(10_000), ['correct horse battery']]
const NEARLY_CONFIRMED = [
  ...['delete_my_account', 'DELETE_MY_ACCOUNT ', ' DELETE_MY_ACCOUNT', 'DELETE MY ACCOUNT', 'ＤＥＬＥＴＥ_MY_ACCOUNT'],
  ...['DELETE_MY_ACCOUNT\u00a0', 'DELETE_MY\u200d_ACCOUNT', 'DELETE_MY_ACCOUNT\n', ['DELETE_MY_ACCOUNT']],
]
const NO_FEEDBACK = ['\u0000', '\ud800', 'x'.repeat(501), '😀'.repeat(501)]
const NOT_BOOLEAN: unknown[] = [null, 0, 1, 'true', '', [], [true], {}, { valueOf: 1 }]

/** An operation, a field, the code of its refusal, values that are refused, and whether the field may be missing. */
const ROWS: [string, string, string, unknown[], 'optional'?][] = [
  ['changeEmail', 'new_email', 'EMAIL_001', [...NOT_TEXT, ...ODD_TEXT, 'x'.repeat(10_000), ['a@b.test']]],
  ['changeEmail', 'current_password', 'REQUEST_001', [...NOT_TEXT, ...NO_PASSWORD]],
  ['changeEmail', 'verification_method', 'REQUEST_001', [...NOT_TEXT, ...ODD_TEXT, 'EMAIL_CODE'], 'optional'],
  ['verifyEmail', 'change_request_id', 'EMAIL_006', NO_ID],
  ['verifyEmail', 'verification_code', 'EMAIL_003', [...NOT_TEXT, ...ODD_TEXT, 'x'.repeat(10_000), ...NO_CODE]],
  ['resendVerification', 'change_request_id', 'EMAIL_006', NO_ID],
  ['resendVerification', 'verification_method', 'REQUEST_001', [...NOT_TEXT, ...ODD_TEXT, 'email_sms'], 'optional'],
  ['withdrawAccount', 'confirmation', 'WITHDRAWAL_001', [...NOT_TEXT, ...ODD_TEXT, ...NEARLY_CONFIRMED]],
  ['withdrawAccount', 'reason', 'REQUEST_001', [...NOT_TEXT, ...ODD_TEXT, 'boredom', 'OTHER'], 'optional'],
  ['withdrawAccount', 'feedback', 'REQUEST_001', [...NOT_TEXT, ...NO_FEEDBACK], 'optional'],
  ['withdrawAccount', 'data_retention', 'REQUEST_001', [null, 1, true, 'all', '', [], [{}]], 'optional'],
  ...['analytics', 'audit_logs', 'transaction_history'].map((member): (typeof ROWS)[number] => [
    'withdrawAccount',
    `data_retention.${member}`,
    'REQUEST_001',
    NOT_BOOLEAN,
    'optional',
  ]),
]

test.each(ROWS)(
  'B18 %s judges the type of %s strictly, and what it refuses changes nothing',
  async (operation, field, code, values, optional) => {
    ctx = await installed({ verify: { places: 1_000, windowMs: hour } })
    const caller = await givenCaller(ctx)
    const { id } = await givenChange(ctx, caller)
    await ctx.settle()
    const before = await tracesOf(ctx, caller.userId)
    const valid: Record<string, unknown> = {
      ...OPERATIONS[operation]?.example.body,
      ...('change_request_id' in (OPERATIONS[operation]?.example.body ?? {}) && { change_request_id: id }),
    }
    const [name = '', member] = field.split('.')
    for (const value of values) {
      const body = { ...valid, [name]: member ? { [member]: value } : value }
      const answer = await asks(caller, operation, { body })
      expect({ value, code: answer.code }).toEqual({ value, code })
      if (code === 'REQUEST_001') expect(answer.details).toContain(field)
    }
    if (!optional) {
      const { [name]: _, ...without } = valid
      expect((await asks(caller, operation, { body: without })).code).toBe(code)
    }
    const after = await tracesOf(ctx, caller.userId)
    expect(after).toEqual({ ...before, limits: before.limits + (operation === 'verifyEmail' ? 1 : 0) })
    const request = await ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id } })
    expect(request).toMatchObject({ attempts: 0, status: 'pending_verification' })
  },
)

test('ids in a path are validated like ids in a body', async () => {
  const { id } = await givenChange(ctx, caller)
  for (const odd of ['x', '%00', id.toUpperCase(), `${id}%20`, NOBODYS_IDS.changeRequestId, `${id}%0a`]) {
    expect((await asks(caller, 'cancelEmailChange', { ids: { changeRequestId: odd } })).code).toBe('EMAIL_006')
    expect((await asks(caller, 'getWithdrawalStatus', { ids: { withdrawalId: odd } })).code).toBe('WITHDRAWAL_004')
  }
  expect((await asks(caller, 'cancelEmailChange', { ids: { changeRequestId: id } })).code).toBe('accepted')
})

test('B20 unknown fields are ignored, including those that name columns of the database', async () => {
  const [caller, stranger] = [await givenCaller(ctx), await givenCaller(ctx)]
  const own = { new_email: `new-${caller.email}`, current_password: caller.password }
  const extra = `"userId":"${stranger.userId}","user_id":"${stranger.userId}","email_verified":true,"is_admin":true,"status":"verified",
    "attempts":-100,"verified_at":null,"expires_at":"2099-01-01T00:00:00.000Z","code_mac":"","id":"ecr_x","constructor":{"prototype":{}},
    "__proto__":{"verification_method":"email_link","is_admin":true},"toString":1,"where":{"id":{"not":""}}`
  const raw = `${JSON.stringify(own).slice(0, -1)},${extra}}`
  const { code, data } = await asks(caller, 'changeEmail', { raw })
  expect([code, data.verification_method, data.verification_expires_at]).toEqual([
    'accepted',
    'email_code',
    '2026-11-20T21:00:00.000Z',
  ])
  const status = await asks(caller, 'getEmailStatus')
  expect(status.data).toMatchObject({ current_email: caller.email, pending_change: { attempts_remaining: 5 } })
  expect(await ctx.db.emailChangeRequest.count({ where: { userId: stranger.userId } })).toBe(0)
  expect('is_admin' in {}).toBe(false)
})

test.each([
  ['500 emoji', { feedback: '😀'.repeat(500) }, 'accepted'],
  ['an odd direction', { feedback: '\u202eabc' }, 'accepted'],
  ['a reason with its feedback', { reason: 'other', feedback: 'because' }, 'accepted'],
  ['an empty choice of what to keep', { data_retention: {} }, 'accepted'],
  ['a choice with members unknown', { data_retention: { audit_logs: true, passwords: true } }, 'accepted'],
  ['other without feedback', { reason: 'other' }, 'REQUEST_001'],
  ['other with empty feedback', { reason: 'other', feedback: '' }, 'REQUEST_001'],
  ['other with blanks', { reason: 'other', feedback: ' \t\n\u00a0\u3000' }, 'REQUEST_001'],
])('a withdrawal with %s: %s', async (_, extra, expected) => {
  const answer = await withdraw(caller, { body: { confirmation: 'DELETE_MY_ACCOUNT', ...extra } })
  expect(answer.code).toBe(expected)
  if (expected === 'REQUEST_001') expect(answer.details).toContain('feedback')
})

// ---- headers ----

test('a given X-Request-Id is returned with every answer, and an invalid one is replaced', async () => {
  for (const asking of [{}, { scope: null }]) {
    const requestIdFor = async (given: string) => {
      const { headers } = await asks(caller, 'getEmailStatus', { ...asking, headers: { 'X-Request-Id': given } })
      return headers.get('X-Request-Id')
    }
    for (const given of ['a', 'req-1.2_3', 'x'.repeat(64)]) expect(await requestIdFor(given)).toBe(given)
    const made = [await requestIdFor('<script>'), await requestIdFor('<script>')]
    expect(made).toEqual([expect.stringMatching(/^req_[\w-]{16}$/), expect.not.stringMatching(made[0] ?? '')])
  }
})

test('Strict-Transport-Security is sent with every answer over https, and with none over http', async () => {
  const securityHeaders = async () => {
    const answers = [await asks(caller, 'getEmailStatus'), await asks(caller, 'getEmailStatus', { scope: null })]
    return answers.map(({ headers }) => headers.get('Strict-Transport-Security'))
  }
  ctx.appUrl = 'http://localhost:3000'
  expect(await securityHeaders()).toEqual([null, null])
  ctx.appUrl = 'https://accounts.test'
  expect(await securityHeaders()).toEqual(Array(2).fill('max-age=63072000; includeSubDomains'))
})

test('RateLimit counts changes down 2, 1, 0, and the fourth change is told when the next place is free', async () => {
  for (const [n, left] of [2, 1, 0].entries()) {
    const { headers } = await change(caller, `${n}-${caller.email}`)
    expect(headers.get('RateLimit-Policy')).toBe('"change";q=3;w=3600')
    expect(headers.get('RateLimit')).toBe(`"change";r=${left};t=${3600 - n * 60}`)
    ctx.clock.advance(minute)
  }
  const refused = await change(caller, `x-${caller.email}`)
  expect(refused.code).toBe('EMAIL_008')
  expect(refused.headers.get('RateLimit')).toBe('"change";r=0;t=3420')
  expect(refused.headers.get('Retry-After')).toBe('3420')
})

test('every answer to a limited call shows the limit, also a refusal for another reason', async () => {
  const { id, code } = await givenChange(ctx, caller)
  for (const [what, ask, shown] of [
    ['a wrong password', () => change({ ...caller, password: 'wrong' }, `x-${caller.email}`), '"change";r=2'],
    ['a taken address', () => change(caller, caller.email), '"change";r=2'],
    ['a wrong code', () => verify(caller, id, wrongCode(code)), '"verify";r=29'],
    ['a malformed code', () => verify(caller, id, 'x'), '"verify";r=28'],
    ['an unknown id', () => verify(caller, 'x', 'x'), '"verify";r=27'],
    ['a resend too early', () => resend(caller, id), '"resend";r=0'],
    ['a read', () => asks(caller, 'getEmailStatus'), '"read";r=299'],
    ['a read of nothing', () => asks(caller, 'getWithdrawalStatus'), '"read";r=298'],
  ] as const) {
    const { headers } = await ask()
    expect([what, headers.get('RateLimit')?.replace(/;t=\d+$/, '')]).toEqual([what, shown])
  }
})

test("the times of an answer come from the service's clock", async () => {
  const { text } = await asks(caller, 'getEmailStatus')
  expect(JSON.parse(text).timestamp).toBe('2026-11-20T09:00:00.000Z')
  const refused = await asks(caller, 'getEmailStatus', { scope: null })
  expect(JSON.parse(refused.text).timestamp).toBe('2026-11-20T09:00:00.000Z')
})

// ---- refusals of a change request ----

test('verify, resend and cancel check in one order: unknown, expired, exhausted, code', async () => {
  const open = await givenChange(ctx, caller)
  const answers = async (id: string) => ({
    malformed: (await verify(caller, id, 'x')).code,
    right: (await verify(caller, id, open.code)).code,
    resend: (await resend(caller, id)).code,
    cancel: (await asks(caller, 'cancelEmailChange', { ids: { changeRequestId: id } })).code,
  })
  const alike = (code: string) => ({ malformed: code, right: code, resend: code, cancel: code })

  expect(await answers(NOBODYS_IDS.changeRequestId)).toEqual(alike('EMAIL_006'))
  const malformed = await verify(caller, open.id, 'x')
  expect([malformed.code, malformed.details]).toEqual(['EMAIL_003', expect.stringContaining('6 digits')])
  const wrong = await verify(caller, open.id, wrongCode(open.code))
  expect([wrong.code, wrong.details]).toEqual(['EMAIL_003', expect.stringContaining('4 attempts left')])

  const update = (data: { attempts?: number; expiresAt?: Date }) =>
    ctx.db.emailChangeRequest.update({ where: { id: open.id }, data })
  await update({ attempts: 5 })
  expect(await answers(open.id)).toEqual(alike('EMAIL_005'))
  await update({ expiresAt: ctx.clock.now() })
  expect(await answers(open.id)).toEqual(alike('EMAIL_004'))
  const { data } = await asks(caller, 'getEmailStatus')
  expect(data.pending_change).toMatchObject({ has_pending: false, change_request_id: null })
})

test("another user's change request and withdrawal are not found, and are not changed", async () => {
  const [caller, stranger, gone] = [await givenCaller(ctx), await givenCaller(ctx), await givenCaller(ctx)]
  const { id, code } = await givenChange(ctx, stranger)
  const withdrawalId = String((await withdraw(gone)).data.withdrawal_id)
  const body = (change_request_id: string) => ({ change_request_id, verification_code: code })
  const pairs: [string, Asking, Asking][] = [
    ['verifyEmail', { body: body(id) }, { body: body(NOBODYS_IDS.changeRequestId) }],
    ['resendVerification', { body: body(id) }, { body: body(NOBODYS_IDS.changeRequestId) }],
    ['cancelEmailChange', { ids: { changeRequestId: id } }, {}],
    ['getWithdrawalStatus', { ids: { withdrawalId } }, {}],
  ]
  for (const [operation, theirs, nobodys] of pairs) {
    const [one, other] = [await asks(caller, operation, theirs), await asks(caller, operation, nobodys)]
    expect(['EMAIL_006', 'WITHDRAWAL_004']).toContain(one.code)
    expect(withoutTimestamp(one.text)).toBe(withoutTimestamp(other.text))
  }
  expect((await verify(stranger, id, code)).code).toBe('accepted')
})

// ---- after a withdrawal ----

test('an accepted withdrawal has a Location, and afterwards two credentials can read it until the purge, and nothing else', async () => {
  const [caller, stranger] = [await givenCaller(ctx), await givenCaller(ctx)]
  const second = await givenToken(ctx, caller.userId)
  const emailOnly = await givenToken(ctx, caller.userId, ['email:manage'])
  const session = createSessionToken(ctx, caller.sessionId).token
  const started = await withdraw(caller)
  const { withdrawal_id: withdrawalId, status_token: statusToken } = started.data as Record<string, string>
  expect(started.headers.get('Location')).toBe(`/api/v1/users/${caller.userId}/withdrawal/${withdrawalId}`)
  const { deletion_steps: steps } = withdrawContract.example.data
  expect(started.data.deletion_steps).toMatchObject(steps.map(({ step, status }) => ({ step, status })))
  const ids = { withdrawalId: String(withdrawalId) }
  const outcome = async (token: string | undefined) => {
    const ask1 = async (name: string, user: { userId: string }, asking: Asking = {}) =>
      (await ask(name, user, { token: token ?? '', ids, ...asking })).code
    return {
      reads: await ask1('getWithdrawalStatus', caller),
      readsAnother: await ask1('getWithdrawalStatus', caller, { ids: {} }),
      readsElsewhere: await ask1('getWithdrawalStatus', stranger),
      withdraws: await ask1('withdrawAccount', caller),
      withdrawsAnother: await ask1('withdrawAccount', stranger),
      status: await ask1('getEmailStatus', caller),
      changes: await ask1('changeEmail', caller),
    }
  }
  const nothing = await outcome(emailOnly.token)
  expect(new Set(Object.values(nothing))).toEqual(new Set(['AUTH_001']))
  expect(await outcome(caller.token)).toEqual({ ...nothing, reads: 'accepted', withdraws: 'WITHDRAWAL_002' })
  expect(await outcome(statusToken)).toEqual({ ...nothing, reads: 'accepted' })
  expect(await outcome(second.token)).toEqual({ ...nothing, withdraws: 'WITHDRAWAL_002' })
  expect(await outcome(session)).toEqual({ ...nothing, withdraws: 'WITHDRAWAL_002' })
  // The database cannot store it, so it must not be looked up.
  expect((await ask('getWithdrawalStatus', { userId: '%00' }, { token: statusToken ?? '', ids })).code).toBe('AUTH_001')
  const wrongScope = { token: statusToken ?? '', ids, scope: 'email:manage' }
  expect((await ask('getWithdrawalStatus', caller, wrongScope)).code).toBe('WITHDRAWAL_005')
  await pass(ctx, 2 * day)
  expect((await outcome(statusToken)).reads).toBe('accepted')
  await pass(ctx, 30 * day)
  expect(await outcome(statusToken)).toEqual(nothing)
})
