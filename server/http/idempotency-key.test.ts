import { randomBytes } from 'node:crypto'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { SystemContext, Transact } from '@/domain/context'
import { createProcess } from '@/domain/process'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import type { Sql } from '@/domain/sql'
import { wrongCode } from '@/testing/account'
import { type Answer, type Asking, type Caller, call, day, hour, minute, NOBODYS_IDS } from '@/testing/api-calls'
import { givenCaller, givenChange, givenToken } from '@/testing/callers'
import { type TestContext, testDatabase } from '@/testing/domain'
import { anotherInstance, installContext, installed } from '@/testing/install-context'
import { ask, asks, change, NO_TRACE, tracesOf, verify, withdraw } from '@/testing/judged-calls'
import { tally } from '@/testing/outcomes'
import { wrapping } from '@/testing/statements'
import { within } from '@/testing/until'
import { openDatabase } from '../adapters/database'

let ctx: TestContext
let caller: Caller

beforeEach(async () => {
  ctx = await installed()
  caller = await givenCaller(ctx)
})

const keyed = (key: string) => ({ headers: { 'Idempotency-Key': key } })

test('a repeated call with the same key and body gets the first answer: one request, one mail, one place', async () => {
  const address = `new-${caller.email}`
  const first = await change(caller, address, keyed('k1'))
  ctx.clock.advance(23 * hour)
  for (let n = 0; n < 9; n++) {
    const again = await change(caller, address, keyed('k1'))
    expect([again.status, again.text]).toEqual([first.status, first.text])
    expect(again.headers.get('X-Request-Id')).not.toBe(first.headers.get('X-Request-Id'))
  }
  expect((await tracesOf(ctx, caller.userId)).requests).toBe(1)
  expect(ctx.mailbox.filter(({ to }) => to === address)).toHaveLength(1)
  ctx.clock.advance(hour)
  expect((await change(caller, address, keyed('k1'))).text).not.toBe(first.text)
})

test('the same key with another body is refused, for the same user and path alone', async () => {
  const [caller, other] = [await givenCaller(ctx), await givenCaller(ctx)]
  expect((await change(caller, `a-${caller.email}`, keyed('k1'))).code).toBe('accepted')
  expect((await change(caller, `b-${caller.email}`, keyed('k1'))).code).toBe('REQUEST_006')
  expect((await change(other, `b-${other.email}`, keyed('k1'))).code).toBe('accepted')
  expect((await asks(caller, 'resendVerification', keyed('k1'))).code).toBe('EMAIL_006')
  expect((await change(caller, `c-${caller.email}`, keyed('k2'))).code).toBe('accepted')
  expect((await tracesOf(ctx, caller.userId)).requests).toBe(2)
})

test('a second call while the first runs gets REQUEST_007, and the answer afterwards', async () => {
  const address = `new-${caller.email}`
  const { send } = ctx.mail
  const started = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  ctx.mail.send = async (mail) => {
    started.resolve()
    await released.promise
    return send(mail)
  }
  const first = change(caller, address, keyed('k1'))
  await started.promise
  expect((await change(caller, address, keyed('k1'))).code).toBe('REQUEST_007')
  expect((await change(caller, `other-${caller.email}`, keyed('k1'))).code).toBe('REQUEST_006')
  ctx.mail.send = send
  released.resolve()
  expect((await first).code).toBe('accepted')
  expect((await change(caller, address, keyed('k1'))).text).toBe((await first).text)
})

test('an answer that a later try could change is not kept: a refused mail, a full limit, a bug', async () => {
  const address = `new-${caller.email}`
  const { send } = ctx.mail
  ctx.mailServer.accepts = false
  expect((await change(caller, address, keyed('k1'))).code).toBe('EMAIL_009')
  ctx.mailServer.accepts = true
  ctx.mail.send = () => Promise.reject(new Error('a bug'))
  expect((await change(caller, address, keyed('k1'))).code).toBe('SERVER_001')
  ctx.mail.send = send
  expect((await change(caller, address, keyed('k1'))).code).toBe('accepted')
  for (const key of ['k2', 'k3']) expect((await change(caller, `${key}-${address}`, keyed(key))).code).toBe('accepted')
  expect((await change(caller, `k4-${address}`, keyed('k4'))).code).toBe('EMAIL_008')
  ctx.clock.advance(hour)
  expect((await change(caller, `k4-${address}`, keyed('k4'))).code).toBe('accepted')
})

test('the answer to a withdrawal is repeated to the token that made the call, and to no other', async () => {
  const second = await givenToken(ctx, caller.userId)
  const first = await withdraw(caller, keyed('k1'))
  const again = await withdraw(caller, keyed('k1'))
  expect([again.status, again.text]).toEqual([202, first.text])
  expect(again.headers.get('Location')).toBe(first.headers.get('Location'))
  expect((await withdraw({ ...caller, ...second }, keyed('k1'))).code).toBe('WITHDRAWAL_002')
  expect((await withdraw(caller)).code).toBe('WITHDRAWAL_002')
  expect(await ctx.db.withdrawal.count({ where: { userId: caller.userId } })).toBe(1)
})

test.each(['', 'a b', 'x'.repeat(256), 'éééé', 'k1, k2'])(
  'the Idempotency-Key "%s" is refused, and nothing happens',
  async (key) => {
    const answer = await change(caller, `new-${caller.email}`, keyed(key))
    expect([answer.code, answer.details]).toEqual(['REQUEST_001', expect.stringContaining('Idempotency-Key')])
    expect(await tracesOf(ctx, caller.userId)).toEqual(NO_TRACE)
  },
)

test('a body that is too large is refused also by operations without a body', async () => {
  const sized = (bytes: number) => ({ headers: { 'Content-Length': String(bytes) } })
  expect((await asks(caller, 'getEmailStatus', sized(16_385))).code).toBe('REQUEST_002')
  expect((await asks(caller, 'getEmailStatus', sized(16_384))).status).toBe(200)
})

/** What leads to each refusal. The call is made twice with one key. */
const FREE: Record<string, (caller: Caller, asking: Asking) => Promise<Answer>> = {
  REQUEST_001: (caller, asking) => asks(caller, 'changeEmail', { ...asking, body: { new_email: 'ada@example.test' } }),
  EMAIL_001: (caller, asking) => change(caller, 'not an address', asking),
  EMAIL_002: (caller, asking) => change(caller, caller.email, asking),
  'EMAIL_003 of a malformed code': async (caller, asking) => verify(caller, (await pendingOf(caller)).id, '12', asking),
  EMAIL_004: async (caller, asking) => {
    const { id, code } = await pendingOf(caller)
    ctx.clock.advance(day)
    return verify(caller, id, code, asking)
  },
  EMAIL_005: async (caller, asking) => {
    const { id, code } = await pendingOf(caller)
    for (let n = 0; n < ctx.limits.codeAttempts; n++) await verify(caller, id, wrongCode(code))
    return verify(caller, id, code, asking)
  },
  EMAIL_006: (caller, asking) => verify(caller, NOBODYS_IDS.changeRequestId, '123456', asking),
  EMAIL_008: async (caller, asking) => {
    for (const n of [1, 2, 3]) await change(caller, `${n}-${caller.email}`)
    return change(caller, `4-${caller.email}`, asking)
  },
  EMAIL_009: (caller, asking) => {
    ctx.mailServer.accepts = false
    return change(caller, `new-${caller.email}`, asking)
  },
  PASSWORD_001: (caller, asking) =>
    asks(caller, 'changePassword', { ...asking, body: { current_password: caller.password, new_password: 'short' } }),
  RATE_001: async (caller, asking) => {
    for (let n = 0; n < 5; n++) await held(caller)
    return withdraw(caller, asking)
  },
  WITHDRAWAL_001: (caller, asking) => asks(caller, 'withdrawAccount', { ...asking, body: { confirmation: 'no' } }),
  WITHDRAWAL_003: (caller, asking) => held(caller, asking),
}

const pendingOf = (caller: Caller) => givenChange(ctx, caller)
/** A withdrawal that something still holds back. */
async function held(caller: Caller, asking?: Asking) {
  await ctx.db.transaction.createMany({
    data: {
      ...{ id: `txn_${caller.userId}`, userId: caller.userId, status: 'pending' },
      ...{ description: 'Order', amountMinor: 1, createdAt: ctx.clock.now() },
    },
    skipDuplicates: true,
  })
  return withdraw(caller, asking)
}

test.each(Object.entries(FREE))('a refusal leaves its key free: %s', async (name, refused) => {
  const { code } = await refused(caller, keyed('k1'))
  expect(code).toBe(name.slice(0, code.length))
  expect(await ctx.db.idempotencyKey.count({ where: { userId: caller.userId } })).toBe(0)
})

test('a wrong code is kept under its key, so that its repetition takes no second attempt', async () => {
  const { id, code } = await givenChange(ctx, caller)
  const first = await verify(caller, id, wrongCode(code), keyed('k1'))
  expect(first.code).toBe('EMAIL_003')
  for (let n = 0; n < 9; n++) {
    const again = await verify(caller, id, wrongCode(code), keyed('k1'))
    expect([again.text, again.headers.get('Idempotency-Replayed')]).toEqual([first.text, 'true'])
  }
  expect((await ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id } })).attempts).toBe(1)
})

const FIELDS = {
  changeEmail: { new_email: 'ada.new@example.test' },
  changePassword: { new_password: 'a-long-new-one-7' },
}

test.each(['changeEmail', 'changePassword'])(
  'a wrong password of %s is kept under its key, so that its repetition takes no second guess',
  async (operation) => {
    const body = { current_password: 'wrong', ...FIELDS[operation as keyof typeof FIELDS] }
    const first = await asks(caller, operation, { ...keyed('k1'), body })
    expect(first.code).toBe('EMAIL_007')
    for (let n = 0; n < 9; n++) {
      expect((await asks(caller, operation, { ...keyed('k1'), body })).text).toBe(first.text)
    }
    expect((await change(caller, `new-${caller.email}`)).code).toBe('accepted')
  },
)

test('a call whose token is revoked meanwhile is refused and releases its key', async () => {
  const [caller, address] = [await givenCaller(ctx), 'between-two-looks@example.test']
  const { sql } = ctx
  ctx.sql = async (statement, values) => {
    if (statement.name.startsWith('begin-email-change')) {
      ctx.sql = sql
      await ctx.db.accessToken.updateMany({ where: { userId: caller.userId }, data: { revokedAt: ctx.clock.now() } })
    }
    return sql(statement, values)
  }
  expect((await change(caller, address, keyed('k1'))).code).toBe('AUTH_001')
  await ctx.db.accessToken.updateMany({ where: { userId: caller.userId }, data: { revokedAt: null } })
  expect((await change(caller, address, keyed('k1'))).code).toBe('accepted')
})

test('an Idempotency-Key grants nothing: token, scope and path are checked first', async () => {
  const [caller, stranger] = [await givenCaller(ctx), await givenCaller(ctx)]
  await change(caller, `new-${caller.email}`, keyed('k1'))
  const body = { new_email: `new-${caller.email}`, current_password: caller.password }
  const asking = { body, ...keyed('k1') }
  expect((await ask('changeEmail', caller, asking)).code).toBe('AUTH_001')
  expect((await ask('changeEmail', caller, { ...asking, token: caller.token, scope: null })).code).toBe('AUTH_002')
  expect((await ask('changeEmail', caller, { ...asking, token: stranger.token })).code).toBe('AUTH_002')
})

test('no table holds a kept answer in plain text', async () => {
  const first = await withdraw(caller, keyed('a-key-of-the-caller'))
  const [kept] = await ctx.db.$queryRaw<{ row: string; answer: Uint8Array }[]>`
    SELECT to_jsonb(k)::text AS row, answer FROM idempotency_keys k WHERE user_id = ${caller.userId}`
  expect(kept?.answer.length).toBeGreaterThan(0)
  expect(kept?.row).not.toContain('a-key-of-the-caller')
  expect(Buffer.from(kept?.answer ?? []).includes(String(first.data.status_token))).toBe(false)
})

/** Places at which a process can die that starts a withdrawal or creates a token, and what a repetition finds after a minute. */
const DEATHS = [
  ['before its effect', 'none'],
  ['between its effect and the kept answer', 'none'],
  ['between the kept answer and the commit', 'none'],
  ['between the commit and the answer', 'first'],
] as const

/** An instance with connections of its own, which loses all of them at that place and stays silent. */
async function givenDyingInstance(place: (typeof DEATHS)[number][0]) {
  const name = `doomed_${randomBytes(4).toString('hex')}`
  const { url } = await testDatabase()
  const database = openDatabase(`${url}?application_name=${name}`)
  // Not awaited: the connection of the transaction in which it dies is never given back.
  onTestFinished(() => void database.close())
  const { promise: death, resolve: died } = Promise.withResolvers<void>()
  const ran: string[] = []
  /** Fails with a sentence where the call is answered, or hangs, without the death. */
  const deathDuring = (call: Promise<unknown>) =>
    within(
      () => `the process to die ${place}; it ran the statements ${ran.join(', ')}`,
      Promise.race([
        death,
        call.then(() => {
          // The end of one connection may be answered before all of them have ended.
          if (isDying) return death
          throw new Error(`answered before the process died ${place}; it ran the statements ${ran.join(', ')}`)
        }),
      ]),
    )
  let isDying = false
  const die = async () => {
    isDying = true
    await ctx.db.$queryRaw`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${name}`
    died()
    return new Promise<never>(() => {})
  }
  const doomed = (sql: Sql): Sql => {
    return async (statement, values) => {
      const { name } = statement
      ran.push(name)
      const isEffect = name === 'create-access-token' || name === 'end-account-access'
      if (place === 'before its effect' && isEffect) await die()
      if (place === 'between its effect and the kept answer' && name === 'keep-idempotent-answer') await die()
      const rows = await sql(statement, values)
      if (place === 'between the kept answer and the commit' && name === 'keep-idempotent-answer') await die()
      return rows as never
    }
  }
  const transact: Transact = async (work) => {
    const result = await wrapping(database.transact, doomed)(work)
    if (place === 'between the commit and the answer') await die()
    return result
  }
  // What a dead process has begun never ends, so nothing waits for it.
  const background: SystemContext['background'] = (work) => void work().catch(() => {})
  const own = { process: createProcess(), sql: doomed(database.sql), transact, background }
  return { context: { ...ctx, ...own }, deathDuring }
}

/** With a session where no access token can make the call. */
async function givenCallerFor(operation: string): Promise<Caller> {
  const user = await givenCaller(ctx)
  return operation === 'createAccessToken' ? { ...user, token: createSessionToken(ctx, user.sessionId).token } : user
}

const effectsOf = async (userId: string) => ({
  tokens: await ctx.db.accessToken.count({ where: { userId, name: 'Nightly export' } }),
  letters: await ctx.db.notice.count({ where: { userId, kind: 'access_token_created' } }),
  withdrawals: await ctx.db.withdrawal.count({ where: { userId } }),
})

test.each(['createAccessToken', 'withdrawAccount'].flatMap((name) => DEATHS.map((death) => [name, ...death] as const)))(
  'a %s whose process dies %s is repeated without a second effect',
  async (name, place, found) => {
    const caller = await givenCallerFor(name)
    const nothing = { tokens: 0, letters: 0, withdrawals: 0 }
    const expected = { ...nothing, ...(name === 'createAccessToken' ? { tokens: 1, letters: 1 } : { withdrawals: 1 }) }
    const { context, deathDuring } = await givenDyingInstance(place)
    installContext(context)
    await deathDuring(call(caller, name, keyed('k1')))
    installContext(ctx)

    expect(await effectsOf(caller.userId)).toEqual(found === 'first' ? expected : nothing)
    ctx.clock.advance(minute - 1)
    const early = await call(caller, name, keyed('k1'))
    expect(early.code).toBe(found === 'first' ? 'accepted' : 'REQUEST_007')
    ctx.clock.advance(1)
    const repeated = await call(caller, name, keyed('k1'))
    expect([repeated.code, repeated.headers.get('Idempotency-Replayed')]).toEqual([
      'accepted',
      found === 'first' ? 'true' : null,
    ])
    expect((await call(caller, name, keyed('k1'))).text).toBe(repeated.text)
    expect(await effectsOf(caller.userId)).toEqual(expected)
  },
)

test.each(['changeEmail', 'createAccessToken', 'withdrawAccount'])(
  'a %s requested twenty times at once with one key, on two instances, has one effect and one answer',
  async (name) => {
    const user = await givenCallerFor(name)
    const body = name === 'changeEmail' && { new_email: `new-${user.email}`, current_password: user.password }
    const asking = { ...keyed('k1'), ...(body && { body }) }
    const instances = [ctx, await anotherInstance(ctx)]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        installContext(instances[n % 2] as TestContext)
        return call(user, name, asking)
      }),
    )
    installContext(ctx)
    const { accepted = 0, REQUEST_007 = 0 } = tally(answers.map(({ code }) => code))
    expect([accepted > 0, accepted + REQUEST_007]).toEqual([true, 20])
    answers.push(await call(user, name, asking))
    expect(new Set(answers.filter(({ code }) => code === 'accepted').map(({ text }) => text)).size).toBe(1)
    const { tokens, letters, withdrawals } = await effectsOf(user.userId)
    expect(letters).toBe(tokens)
    expect([tokens, withdrawals, (await tracesOf(ctx, user.userId)).requests].filter(Boolean)).toEqual([1])
  },
)

test('a call that its own repetition overtakes undoes its effect', async () => {
  const caller = await givenCallerFor('createAccessToken')
  const { transact } = ctx
  let repeated: Answer | undefined
  ctx.transact = async (work) => {
    ctx.transact = transact
    // The call pauses for longer than its key is held.
    ctx.clock.advance(minute)
    repeated = await call(caller, 'createAccessToken', keyed('k1'))
    return transact(work)
  }
  const overtaken = await call(caller, 'createAccessToken', keyed('k1'))
  expect([repeated?.code, overtaken.code]).toEqual(['accepted', 'REQUEST_007'])
  expect((await call(caller, 'createAccessToken', keyed('k1'))).text).toBe(repeated?.text)
  expect((await effectsOf(caller.userId)).tokens).toBe(1)
})
