import { beforeAll, expect, test, vi } from 'vitest'
import { ERRORS } from '@/contract/errors'
import { userOperations } from '@/contract/operations'
import { reportPlaceOf } from '@/domain/applications/task-token'
import { addTransaction } from '@/domain/applications/transactions'
import type { BucketState } from '@/domain/context'
import { createNotMeToken } from '@/domain/email/not-me-token'
import { pseudonymousBucket } from '@/domain/limits/buckets'
import { BUCKET_NAMES, type BucketName, LIMIT_ROWS } from '@/domain/limits/limits'
import { signIn } from '@/domain/passwords/sign-in'
import type { Message } from '@/domain/ports'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { createSecrets } from '@/server/adapters/secrets'
import { wrongCode } from '@/testing/account'
import {
  type Answer,
  type Caller,
  call,
  change,
  day,
  hour,
  minute,
  resend,
  verify,
  withdraw,
} from '@/testing/api-calls'
import { givenCaller, givenChange, givenServiceToken, givenToken } from '@/testing/callers'
import { givenSession, LIMITS } from '@/testing/domain'
import { outcomeOf, tally } from '@/testing/outcomes'
import {
  acceptOutsideToken,
  emailOf,
  givenService,
  mailsTo,
  OUTSIDE_TOKEN,
  proofsIn,
  type Service,
  times,
} from '@/testing/service'

// Bugs of other projects (docs/guarantees.md) about races and limits. Each title begins with the id of its row.

beforeAll(() => {
  for (const name of ['AUTH_SECRET', 'CODE_SECRET']) vi.stubEnv(name, 'secret-for-tests')
})

const manyVerifyCalls = { verify: { places: 10_000, windowMs: hour } }

const trySignIn = (ctx: Service & { buckets?: BucketState[] }, email: string, password: string, ip = '192.0.2.1') =>
  signIn(ctx, { email, password, userAgent: '', ip })

test('B2 answer, status, message, notice and account always name the same address', async () => {
  const ctx = await givenService({ change: { places: 10, windowMs: hour } })
  for (let round = 0; round < 15; round++) {
    const caller = await givenCaller(ctx)
    const answers = await Promise.all(times(4, (n) => change(caller, `${n}-${caller.email}`)))
    const { pending_change } = (await call(caller, 'getEmailStatus')).data as { pending_change: Record<string, string> }
    const { change_request_id: id = '', new_email: address = '' } = pending_change
    expect(answers.find(({ data }) => data.change_request_id === id)?.data.new_email).toBe(address)
    const proof = proofsIn(ctx).find(({ request }) => request === id)
    expect(proof?.to).toBe(address)
    expect((await verify(caller, id, proof?.code)).data.new_email).toBe(address)
    expect(await emailOf(ctx, caller)).toBe(address)
    const letters = mailsTo(ctx, address, 'email-changed')
    expect(letters.map(({ message }) => 'newEmail' in message && message.newEmail)).toEqual([address])
  }
})

test('B7 L1 L2 five of 200 concurrent codes are judged, wherever the right one is among them', async () => {
  const ctx = await givenService(manyVerifyCalls)
  for (const right of [0, 4, 5, 100, 199, undefined]) {
    const caller = await givenCaller(ctx)
    const { id, code } = await givenChange(ctx, caller)
    const codes = await Promise.all(times(200, (n) => verify(caller, id, n === right ? code : wrongCode(code))))
    const { accepted = 0, EMAIL_003 = 0, EMAIL_005 = 0, EMAIL_006 = 0 } = tally(codes.map(({ code }) => code))
    expect(accepted + EMAIL_003 + EMAIL_005 + EMAIL_006).toBe(200)
    // A right code among the first five ends the guessing early.
    if (accepted) expect([accepted, EMAIL_003 <= 4]).toEqual([1, true])
    else {
      expect([EMAIL_003, EMAIL_006]).toEqual([5, 0])
      expect((await verify(caller, id, code)).code).toBe('EMAIL_005')
      expect((await ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id } })).attempts).toBe(5)
    }
  }
})

test('B4 every way to check a secret stops at the same limit, whatever the credential', async () => {
  const secretsAsked = userOperations.filter(({ body }) =>
    Object.keys(body?.shape ?? {}).some((field) => /password|code|secret|token/.test(field)),
  )
  expect(secretsAsked.map(({ name }) => name)).toEqual(['changeEmail', 'verifyEmail', 'changePassword'])

  const ctx = await givenService()
  const caller = await givenCaller(ctx)
  acceptOutsideToken(ctx, caller)
  const sessions = [caller.sessionId, await givenSession(ctx, caller.userId)]
  const tokens = [
    caller.token,
    (await givenToken(ctx, caller.userId)).token,
    ...sessions.map((session) => createSessionToken(ctx, session).token),
    OUTSIDE_TOKEN,
  ]
  const { id, code } = await givenChange(ctx, caller)
  const judged = { EMAIL_003: 0, EMAIL_005: 0 }
  for (const token of [...tokens, ...tokens]) {
    judged[(await verify(caller, id, wrongCode(code), { token })).code as keyof typeof judged]++
  }
  expect(judged).toEqual({ EMAIL_003: 5, EMAIL_005: 5 })
  const refusals: string[] = []
  for (const token of [...tokens, ...tokens]) {
    refusals.push((await change({ ...caller, password: 'wrong' }, 'x@example.test', { token })).code)
    const body = { current_password: 'wrong', new_password: 'a new password' }
    refusals.push((await call(caller, 'changePassword', { token, body })).code)
  }
  expect(tally(refusals)).toEqual({ EMAIL_007: 5, EMAIL_008: 15 })
})

/** The code and the sentence of an answer, and the limits that its headers show. */
interface Refusal {
  code: string
  details: string
  shown: string
}
/** A call through the public path that takes one place of the limit. */
type Attempt = (ctx: Service, caller: Caller, n: number) => Promise<Refusal>
const refusalOf = async (answer: Promise<Answer>): Promise<Refusal> => {
  const { code, details, headers } = await answer
  return { code, details, shown: headers.get('RateLimit-Policy') ?? '' }
}
const refusalAtSignIn = async (ctx: Service, email: string, ip: string): Promise<Refusal> => {
  const buckets: BucketState[] = []
  const error = await trySignIn({ ...ctx, buckets }, email, 'wrong', ip).then(
    () => ({}),
    (refusal) => refusal,
  )
  const { code = 'accepted', details = '' } = error as Partial<Refusal>
  return { code, details, shown: JSON.stringify(buckets.map(({ name }) => name)) }
}
const wide = { places: 10_000, windowMs: day }
const tokensOfServices = new WeakMap<Service, { userId: string; token: string }>()
/** The answer is the same beyond this limit, so that only the missing message shows it. */
const mailedLink = (
  operation: string,
  template: Message['template'],
  bucket: BucketName,
  { widen = [], ipOf = (n) => `198.51.100.${n}` }: { widen?: BucketName[]; ipOf?: (n: number) => string } = {},
): { attempt: Attempt; widen: BucketName[] } => ({
  widen,
  attempt: async (ctx, { email, userId }, n) => {
    await call({ userId }, operation, { body: { email }, ip: ipOf(n) })
    await ctx.settle()
    const isSent = mailsTo(ctx, email, template).length > n
    return {
      code: isSent ? 'accepted' : 'RATE_001',
      details: ERRORS.RATE_001.details,
      shown: isSent ? '' : `"${bucket}"`,
    }
  },
})
const wrongPassword: Attempt = (_, caller) => refusalOf(change({ ...caller, password: 'wrong' }, 'x@example.test'))
const sameTarget: Attempt = async (ctx, { email }) => refusalOf(change(await givenCaller(ctx), `target-${email}`))
const linkForAnother =
  (operation: string): Attempt =>
  (_, { userId }, n) =>
    refusalOf(call({ userId }, operation, { body: { email: `${n}@example.test` } }))
const ATTEMPTS: Record<BucketName, { attempt: Attempt; widen?: BucketName[] }> = {
  change: { attempt: (_, caller, n) => refusalOf(change(caller, `${n}-${caller.email}`)) },
  password: { attempt: wrongPassword },
  passwordDay: { widen: ['password'], attempt: wrongPassword },
  passwordChange: {
    attempt: async (ctx, caller) => {
      const { token } = createSessionToken(ctx, caller.sessionId)
      const body = { current_password: caller.password, new_password: `${caller.password}.` }
      const refusal = await refusalOf(call(caller, 'changePassword', { token, body }))
      if (refusal.code === 'accepted') caller.password = body.new_password
      return refusal
    },
  },
  taken: { attempt: (_, caller) => refusalOf(change(caller, caller.email)) },
  target: { attempt: sameTarget },
  targetMail: { widen: ['target'], attempt: sameTarget },
  notMe: {
    attempt: async (ctx, caller) => {
      const changeRequestId = 'ecr_none'
      return refusalOf(
        call(caller, 'undoEmailChange', { ids: { changeRequestId }, token: createNotMeToken(ctx, changeRequestId) }),
      )
    },
  },
  notMeAddress: { attempt: (_, caller) => refusalOf(call(caller, 'undoEmailChange')) },
  verify: { attempt: (_, caller) => refusalOf(verify(caller, 'ecr_none', '000000')) },
  withdraw: {
    attempt: async (ctx, caller) => {
      const transaction = { userId: caller.userId, status: 'pending' as const, title: '', ip: '' }
      await addTransaction(ctx, transaction)
      return refusalOf(withdraw(caller))
    },
  },
  preview: { attempt: (_, caller) => refusalOf(call(caller, 'previewWithdrawal')) },
  export: { attempt: (_, caller) => refusalOf(call(caller, 'exportData')) },
  reauthentication: {
    attempt: (ctx, caller) => {
      const { token } = createSessionToken(ctx, caller.sessionId)
      return refusalOf(call(caller, 'startReauthentication', { token }))
    },
  },
  accessToken: {
    attempt: (ctx, caller, n) => {
      const { token } = createSessionToken(ctx, caller.sessionId)
      // Fewer work at a time than may be asked for.
      const body = { name: 'test', scopes: ['email:manage'], expires_in_days: n + 1 }
      return refusalOf(call(caller, 'createAccessToken', { token, body }))
    },
  },
  read: { attempt: (_, caller) => refusalOf(call(caller, 'getEmailStatus')) },
  service: {
    attempt: async (ctx) => {
      const token = tokensOfServices.get(ctx) ?? (await givenServiceToken(ctx))
      tokensOfServices.set(ctx, token)
      return refusalOf(call(token, 'getUser'))
    },
  },
  passwordReset: mailedLink('requestPasswordReset', 'password-reset', 'passwordReset'),
  withdrawalRequest: mailedLink('requestWithdrawal', 'withdrawal-requested', 'withdrawalRequest'),
  passwordResetDay: mailedLink('requestPasswordReset', 'password-reset', 'passwordResetDay', {
    widen: ['passwordReset'],
  }),
  passwordResetPair: mailedLink('requestPasswordReset', 'password-reset', 'passwordResetPair', {
    widen: ['passwordReset'],
    ipOf: () => '198.51.100.1',
  }),
  withdrawalRequestDay: mailedLink('requestWithdrawal', 'withdrawal-requested', 'withdrawalRequestDay', {
    widen: ['withdrawalRequest'],
  }),
  withdrawalRequestPair: mailedLink('requestWithdrawal', 'withdrawal-requested', 'withdrawalRequestPair', {
    widen: ['withdrawalRequest'],
    ipOf: () => '198.51.100.1',
  }),
  withdrawalRequestAddress: { attempt: linkForAnother('requestWithdrawal') },
  passwordResetAddress: { attempt: linkForAnother('requestPasswordReset') },
  report: {
    attempt: (ctx) => {
      const { report_token: token } = reportPlaceOf(ctx, 'msg_none')
      return refusalOf(call({ userId: '', token }, 'reportOnTask', { ids: { taskId: 'msg_none' } }))
    },
  },
  // The peer is not known.
  signIn: { attempt: (ctx, { email }) => refusalAtSignIn(ctx, email, '') },
  signInAddress: {
    attempt: (ctx, { email }, n) => refusalAtSignIn(ctx, `${n}-${email}`, '198.51.100.2'),
  },
}

test.each(BUCKET_NAMES)(
  'B9 B37 the limit %s refuses the call after its last place, with the code, sentence and headers of its row',
  async (name) => {
    const { attempt, widen = [] } = ATTEMPTS[name]
    const ctx = await givenService(Object.fromEntries(widen.map((other) => [other, wide])))
    const caller = await givenCaller(ctx)
    const { places, code, refusal, shown } = LIMIT_ROWS[name]
    for (let n = 0; n < places; n++) {
      const answer = await attempt(ctx, caller, n)
      expect([n, answer.code]).not.toEqual([n, code])
      expect(answer.shown.includes(`"${name}"`)).toBe(shown === 'always')
    }
    const refused = await attempt(ctx, caller, places)
    expect(refused).toMatchObject({ code, details: typeof refusal === 'string' ? refusal : ERRORS[code].details })
    expect(refused.shown).toContain(`"${name}"`)
  },
)

test('B9 L5 one of 50 concurrent resends is accepted, and the others wait for the cooldown and take no place', async () => {
  const ctx = await givenService()
  const caller = await givenCaller(ctx)
  const { id, newEmail } = await givenChange(ctx, caller)
  ctx.clock.advance(LIMITS.resendCooldownMs)
  const answers = await Promise.all(times(50, () => resend(caller, id)))
  expect(tally(answers.map(({ code, headers }) => `${code} ${headers.get('Retry-After')}`))).toEqual({
    'accepted null': 1,
    'EMAIL_008 300': 49,
  })
  for (const { headers } of answers) expect(headers.get('RateLimit')).toMatch(/^"resend";r=0;/)
  expect(proofsIn(ctx)).toHaveLength(2)
  const { key } = pseudonymousBucket(ctx, 'targetMail', newEmail)
  expect((await ctx.db.rateLimit.findUniqueOrThrow({ where: { key } })).hits).toHaveLength(2)
})

test('B10 B38 L7 L14 one address gets five requests and twenty mails a day, whoever asks, resends and cancels', async () => {
  const ctx = await givenService()
  const victim = 'Victim@example.test'
  const callers = await Promise.all(times(12, () => givenCaller(ctx)))
  const open = new Map<Caller, unknown>()
  for (let step = 0; step < 12 * 24; step++) {
    const caller = callers[step % 12] as Caller
    const request = open.get(caller)
    if (request) {
      await resend(caller, request)
      if (step % 40 === 39) {
        await call(caller, 'cancelEmailChange', { ids: { changeRequestId: String(request) } })
        open.delete(caller)
      }
    } else {
      const { code, data } = await change(caller, step % 2 ? victim : victim.toUpperCase())
      if (code === 'accepted') open.set(caller, data.change_request_id)
    }
    ctx.clock.advance(5 * minute - 1_000)
  }
  const proofs = proofsIn(ctx).filter(({ to }) => to.toLowerCase() === victim.toLowerCase())
  expect(proofs).toHaveLength(20)
  expect(new Set(proofs.map(({ request }) => request)).size).toBe(5)
})

test('B38 an address in another spelling shares the limits of the first', async () => {
  const ctx = await givenService()
  const spellings = ['a@bücher.test', 'A@BÜCHER.test', 'a@xn--bcher-kva.test', 'A@XN--Bcher-KVA.test', 'a@Bücher.TEST']
  for (const spelling of spellings)
    expect((await change(await givenCaller(ctx), spelling)).code, spelling).toBe('accepted')
  for (const spelling of spellings)
    expect((await change(await givenCaller(ctx), spelling)).code, spelling).toBe('EMAIL_008')
  for (const padded of [' a@bücher.test', 'a@bücher.test ', 'a@bücher.test\u200b', 'a@bücher.test.']) {
    expect((await change(await givenCaller(ctx), padded)).code).toBe('EMAIL_001')
  }
  const { email } = await givenCaller(ctx)
  const cases = times(15, (n) => (n % 2 ? email.toUpperCase() : email))
  const guesses = await Promise.all(cases.map((typed) => outcomeOf(trySignIn(ctx, typed, 'wrong'))))
  expect(tally(guesses)).toEqual({ accepted: 10, RATE_001: 5 })
})

const METHODS = ['email_code', 'email_link'] as const
const COMBINATIONS = METHODS.flatMap((first) =>
  [undefined, 'as before' as const, ...METHODS].flatMap((again) =>
    [1, 0.0001].flatMap((timeScale) =>
      [false, true].map((rotated) => ({ first, again, timeScale, rotated, limits: again === 'email_link' })),
    ),
  ),
)

test('B21 B36 no combination of settings replaces the proof by code or link of the new mailbox', async () => {
  const strict = { codeAttempts: 1, change: { places: 1, windowMs: hour }, codeValidityMs: day }
  for (const combination of COMBINATIONS) {
    const ctx = await givenService(combination.limits ? strict : {})
    ctx.timeScale = combination.timeScale
    const caller = await givenCaller(ctx)
    const newEmail = `new-${caller.email}`
    const body = { new_email: newEmail, current_password: caller.password, verification_method: combination.first }
    const { data } = await call(caller, 'changeEmail', { body })
    const id = data.change_request_id
    if (combination.again) {
      ctx.clock.advance(5 * minute)
      const method = combination.again === 'as before' ? undefined : combination.again
      await call(caller, 'resendVerification', { body: { change_request_id: id, verification_method: method } })
    }
    if (combination.rotated) {
      ctx.secrets = createSecrets({ auth: ['auth-secret-for-tests'], code: ['newer', 'code-secret-for-tests'] })
    }
    expect([combination, await emailOf(ctx, caller)]).toEqual([combination, caller.email])
    await ctx.settle()
    const old = mailsTo(ctx, caller.email).map(({ message }) => JSON.stringify(message))
    const newest = proofsIn(ctx).at(-1)
    expect(newest).toEqual({ to: newEmail, request: id, code: newest?.code, linkCode: newest?.code })
    for (const message of old) expect(message).not.toContain(newest?.code)
    expect([combination, (await verify(caller, id, newest?.linkCode)).code]).toEqual([combination, 'accepted'])
  }
})

test('B35 one query lists every account whose address is marked as verified without a proof', async () => {
  const ctx = await givenService()
  const unproved = async () => {
    const rows = await ctx.db.$queryRawUnsafe<{ id: string }[]>(WITHOUT_PROOF)
    return rows.map(({ id }) => id)
  }
  const [genuine, forged, swapped] = [await givenCaller(ctx), await givenCaller(ctx), await givenCaller(ctx)]
  ctx.clock.advance(minute)
  for (const caller of [genuine, swapped]) {
    const { id, code } = await givenChange(ctx, caller)
    expect((await verify(caller, id, code)).code).toBe('accepted')
  }
  await ctx.db.user.update({ where: { id: forged.userId }, data: { emailVerifiedAt: ctx.clock.now() } })
  await ctx.db.user.update({ where: { id: swapped.userId }, data: { emailKey: 'another@b.test' } })
  expect((await unproved()).sort()).toEqual([forged.userId, swapped.userId].sort())
  const [kept] = await ctx.db.emailChangeRequest.findMany({ where: { userId: genuine.userId } })
  expect(kept).toMatchObject({ status: 'verified', closedAt: ctx.clock.now(), closedIp: '192.0.2.1' })
  expect(kept?.codeMac).toHaveLength(32)
})

/** Accounts that an operator created as verified are proved by that: the time is the same. */
const WITHOUT_PROOF = `SELECT u.id FROM users u
    WHERE u.email_verified_at <> u.created_at AND NOT EXISTS (
      SELECT FROM email_change_requests r
      WHERE r.user_id = u.id AND r.status = 'verified' AND r.closed_at = u.email_verified_at AND r.new_email_key = u.email_key
    )`
