import { beforeEach, describe, expect, test } from 'vitest'
import { createNotMeToken } from '@/domain/email/not-me-token'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { createSecrets } from '@/server/adapters/secrets'
import { lookalikesOf, signInAs } from '@/testing/account'
import { type Answer, type Caller, call, change, day, hour, minute, verify, withdraw } from '@/testing/api-calls'
import { givenCaller, givenChange, givenServiceOf, givenToken } from '@/testing/callers'
import { givenSession } from '@/testing/domain'
import { linkTo, MINE, move, read, redeem } from '@/testing/not-me'
import { heldUp, tally } from '@/testing/outcomes'
import { emailOf, givenService, mailsTo, type Service, times } from '@/testing/service'

/** The address is changed and verified; the link of the message to the old one. */
async function givenTheft(ctx: Service, caller: Caller, to = `thief-${caller.email}`) {
  const old = await emailOf(ctx, caller)
  const id = await move(ctx, caller, to)
  const link = linkTo(ctx, old)
  expect(link.id).toBe(id)
  return { id, link, to }
}

const statusOf = async (ctx: Service, id: string) =>
  (await ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id } })).status
const enters = async (email: string, password: string) => (await signInAs(ctx, { email, password })) !== null

/** Without what differs between two answers of one kind. */
const bare = ({ status, text, headers }: Answer) => ({
  status,
  text: text.replace(/"timestamp":"[^"]*"/, ''),
  headers: [...headers.keys()].filter((name) => name !== 'x-request-id'),
})

let ctx: Service
let caller: Caller

beforeEach(async () => {
  ctx = await givenService()
  caller = await givenCaller(ctx)
})

describe('the link to the old address', () => {
  test('B46 the link restores the address of a verified change, ends all access and leaves only the new password', async () => {
    const session = await givenSession(ctx, caller.userId)
    const verifiedAt = (await ctx.db.user.findUniqueOrThrow({ where: { id: caller.userId } })).emailVerifiedAt
    ctx.clock.advance(minute)
    const { id, link, to } = await givenTheft(ctx, caller)
    const extra = await givenToken(ctx, caller.userId)
    expect((await read(link)).data).toMatchObject({ status: 'verified', old_email: caller.email, has_password: true })
    expect((await redeem(link)).data).toEqual({ change_request_id: id, status: 'reverted', email: caller.email })
    const user = await ctx.db.user.findUniqueOrThrow({ where: { id: caller.userId } })
    expect(user).toMatchObject({ email: caller.email, emailVerifiedAt: verifiedAt })
    for (const token of [caller.token, extra.token, createSessionToken(ctx, session).token]) {
      expect((await call(caller, 'getEmailStatus', { token })).code).toBe('AUTH_001')
    }
    expect(await enters(caller.email, caller.password)).toBe(false)
    expect(await enters(to, MINE)).toBe(false)
    expect(await enters(caller.email, MINE)).toBe(true)
    const actions = await ctx.db.auditEvent.findMany({ where: { userId: caller.userId, actor: 'mailed_link' } })
    expect(actions).toMatchObject([{ action: 'email.reverted', subjectId: id, ip: '192.0.2.1' }])
  })

  test('B46 the link stops an unverified change, even an expired one, for seven days from the request', async () => {
    for (const [ms, code] of [
      [0, 'accepted'],
      [7 * day - 1, 'accepted'],
      [7 * day, 'EMAIL_006'],
    ] as const) {
      const caller = await givenCaller(ctx)
      const { id } = await givenChange(ctx, caller)
      const link = linkTo(ctx, caller.email)
      ctx.clock.advance(ms)
      expect((await redeem(link)).code).toBe(code)
      expect(await statusOf(ctx, id)).toBe(code === 'accepted' ? 'cancelled' : 'pending_verification')
      expect(await enters(caller.email, MINE)).toBe(code === 'accepted')
    }
  })

  test('the link works for exactly the window of the setting, and the mail about a verified change has none where the window is zero', async () => {
    ctx.limits.undoWindowMs = 0
    const { id, code } = await givenChange(ctx, caller)
    const link = linkTo(ctx, caller.email)
    await verify(caller, id, code)
    await ctx.settle()
    expect(mailsTo(ctx, caller.email, 'email-changed')[0]?.message).toMatchObject({ notMe: null })
    expect((await redeem(link)).code).toBe('EMAIL_006')
    for (const [ms, code] of [
      [2 * day - 1, 'accepted'],
      [2 * day, 'EMAIL_006'],
    ] as const) {
      const ctx = await givenService({ undoWindowMs: 2 * day })
      const caller = await givenCaller(ctx)
      const { link } = await givenTheft(ctx, caller)
      ctx.clock.advance(ms - minute)
      expect([ms, (await read(link)).code]).toEqual([ms, code])
      expect([ms, (await redeem(link)).code]).toEqual([ms, code])
    }
  })

  test('B45 the link undoes every later change too, and the links to the undone addresses stop working', async () => {
    const first = await givenTheft(ctx, caller, `b-${caller.email}`)
    const second = await givenTheft(ctx, caller, `c-${caller.email}`)
    const third = await givenChange(ctx, caller, `d-${caller.email}`)
    const pending = linkTo(ctx, second.to)
    expect((await redeem(first.link)).code).toBe('accepted')
    expect(await emailOf(ctx, caller)).toBe(caller.email)
    expect(await Promise.all([first.id, second.id, third.id].map((id) => statusOf(ctx, id)))).toEqual([
      'reverted',
      'reverted',
      'cancelled',
    ])
    for (const link of [first.link, second.link, pending]) expect((await redeem(link)).code).toBe('EMAIL_006')
    expect(await emailOf(ctx, caller)).toBe(caller.email)
    expect(await enters(caller.email, MINE)).toBe(true)
    const letters = ctx.mailbox.filter(({ message }) => message.template === 'email-reverted')
    expect(letters.map(({ to }) => to).toSorted()).toEqual([caller.email, first.to, second.to].toSorted())
    expect(JSON.stringify(letters.filter(({ to }) => to !== caller.email))).not.toMatch(
      new RegExp(`Ada|192\\.0\\.2|"${caller.email}"|not-me`),
    )
  })

  test('B45 an older link still works after a newer one was used, also when both changes were made in one millisecond', async () => {
    const { advance } = ctx.clock
    ctx.clock.advance = () => {}
    const first = await givenTheft(ctx, caller, `b-${caller.email}`)
    const second = await givenTheft(ctx, caller, `c-${caller.email}`)
    ctx.clock.advance = advance
    expect((await redeem(second.link)).data).toMatchObject({ status: 'reverted', email: first.to })
    expect((await redeem(second.link, { body: { new_password: 'another password' } })).code).toBe('EMAIL_006')
    expect((await redeem(first.link, { body: { new_password: 'a third password' } })).code).toBe('accepted')
    expect(await emailOf(ctx, caller)).toBe(caller.email)
  })

  test('the old address gets its link also when a service changes the address', async () => {
    const service = await givenServiceOf(ctx, caller)
    const email = `by-service-${caller.email}`
    expect((await service('putUser', { email })).code).toBe('accepted')
    await ctx.settle()
    expect(mailsTo(ctx, email, 'email-changed')[0]?.message).toMatchObject({ notMe: null })
    expect((await redeem(linkTo(ctx, caller.email))).code).toBe('accepted')
    expect(await emailOf(ctx, caller)).toBe(caller.email)
  })

  test('an account without a password is given back, and gets no password', async () => {
    const { link } = await givenTheft(ctx, caller)
    await ctx.db.user.update({ where: { id: caller.userId }, data: { passwordHash: null } })
    expect((await read(link)).data).toMatchObject({ has_password: false })
    const details = expect.stringContaining('Leave new_password out')
    expect(await redeem(link)).toMatchObject({ code: 'PASSWORD_001', details })
    expect((await redeem(link, { body: {} })).code).toBe('accepted')
    expect((await ctx.db.user.findUniqueOrThrow({ where: { id: caller.userId } })).passwordHash).toBeNull()
  })

  test('a withdrawn account is given back to nobody, and the mail that tells its replaced addresses of the withdrawal has no link', async () => {
    const first = await givenTheft(ctx, caller, `b-${caller.email}`)
    await givenTheft(ctx, caller, `c-${caller.email}`)
    expect((await withdraw(caller)).status).toBe(202)
    await ctx.settle()
    for (const address of [caller.email, first.to]) {
      const letters = mailsTo(ctx, address, 'account-withdrawal-told')
      expect(letters).toHaveLength(1)
      expect(JSON.stringify(letters)).not.toMatch(/wst_|wd_|token=/)
    }
    expect(mailsTo(ctx, `c-${caller.email}`, 'account-withdrawal-started')).toHaveLength(1)
    expect((await redeem(first.link)).code).toBe('EMAIL_006')
    expect((await read(first.link)).code).toBe('EMAIL_006')
  })

  test('no mail tells an address of a withdrawal when its change was undone or is older than seven days', async () => {
    const undone = await givenCaller(ctx)
    const { link, to } = await givenTheft(ctx, undone)
    await redeem(link)
    const { token } = await givenToken(ctx, undone.userId)
    await withdraw({ ...undone, token })
    const old = await givenCaller(ctx)
    await givenTheft(ctx, old)
    ctx.clock.advance(7 * day)
    await withdraw(old)
    await ctx.settle()
    for (const address of [to, old.email]) expect(mailsTo(ctx, address, 'account-withdrawal-told')).toEqual([])
  })
})

describe('a wrong link or password', () => {
  test('B45 every wrong link gets the same answer, whether it is read or pressed', async () => {
    ctx.limits.notMeAddress = { places: 1000, windowMs: hour }
    const other = await givenTheft(ctx, await givenCaller(ctx))
    const { link } = await givenTheft(ctx, caller)
    const used = await givenTheft(ctx, await givenCaller(ctx))
    await redeem(used.link)
    const unknown = `ecr_${'A'.repeat(22)}`
    const wrong = [
      ...lookalikesOf(link.token).map((token) => ({ id: link.id, token })),
      { id: link.id, token: other.link.token },
      { id: other.link.id, token: link.token },
      { id: link.id, token: caller.token },
      { id: link.id, token: 'junk' },
      { id: 'junk', token: link.token },
      { id: unknown, token: createNotMeToken(ctx, unknown) },
      used.link,
    ]
    for (const send of [redeem, read]) {
      const answers = await Promise.all(wrong.map((one) => send(one)))
      expect(new Set(answers.map((answer) => JSON.stringify(bare(answer))))).toEqual(
        new Set([JSON.stringify(bare(answers[0] as Answer))]),
      )
      expect(answers[0]).toMatchObject({ status: 404, code: 'EMAIL_006' })
      for (const token of [null, 'Basic abc']) {
        expect(await send(link, { token })).toMatchObject({ status: 401, code: 'AUTH_001' })
      }
    }
    expect(await emailOf(ctx, caller)).toBe(`thief-${caller.email}`)
    // No scope is asked for, and naming one changes nothing.
    expect((await redeem(link, { scope: 'tokens:manage' })).code).toBe('accepted')
  })

  test('a thief who knows the id of the change cannot lock the owner out, not even from the same client', async () => {
    const { link } = await givenTheft(ctx, caller)
    const wrong = { id: link.id, token: `nme_${'A'.repeat(43)}` }
    const ip = '198.51.100.77'
    const guesses = await Promise.all(times(150, () => redeem(wrong, { ip })))
    expect(tally(guesses.map(({ code }) => code))).toEqual({ EMAIL_006: 100, EMAIL_008: 50 })
    expect((await read(wrong, { ip })).code).toBe('EMAIL_008')
    expect((await read(link, { ip })).code).toBe('accepted')
    expect((await redeem(link, { ip })).code).toBe('accepted')
  })

  test('an unsuitable password is refused, and counts in no limit', async () => {
    const { link } = await givenTheft(ctx, caller)
    const details = expect.stringContaining('Send new_password')
    expect(await redeem(link, { body: {} })).toMatchObject({ details })
    const bodies = [{}, { new_password: 'short' }, { new_password: 'x'.repeat(257) }, { new_password: caller.password }]
    for (const body of times(12, (n) => bodies[n % 4])) {
      expect(await redeem(link, { body })).toMatchObject({ status: 400, code: 'PASSWORD_001' })
    }
    expect((await redeem(link)).code).toBe('accepted')
  })

  test('a link works after a rotation of the keys as long as its key is kept, and not without it', async () => {
    const { link } = await givenTheft(ctx, caller)
    const keys = (auth: string[]) => createSecrets({ auth, code: ['code-secret-for-tests'] })
    ctx.secrets = keys(['a newer secret'])
    expect((await redeem(link, { ip: '198.51.100.78' })).code).toBe('EMAIL_006')
    ctx.secrets = keys(['a newer secret', 'auth-secret-for-tests'])
    expect((await redeem(link)).code).toBe('accepted')
  })
})

describe('concurrent presses', () => {
  test('L23 one of 200 concurrent presses has an effect', async () => {
    const { id, link } = await givenTheft(ctx, caller)
    const passwords = times(200, (n) => `password number ${n}`)
    const answers = await Promise.all(passwords.map((new_password) => redeem(link, { body: { new_password } })))
    expect(tally(answers.map(({ code }) => code))).toEqual({ accepted: 1, EMAIL_006: 9, EMAIL_008: 190 })
    const winner = passwords[answers.findIndex(({ code }) => code === 'accepted')] ?? ''
    expect(await enters(caller.email, winner)).toBe(true)
    await ctx.settle()
    expect(await ctx.db.notice.count({ where: { changeRequestId: id, kind: 'email_reverted' } })).toBe(2)
    expect(await ctx.db.auditEvent.count({ where: { subjectId: id, action: 'email.reverted' } })).toBe(1)
  })

  test('L23 a press that waits for the account past the end of its window has no effect', async () => {
    for (const [ms, code] of [
      [day - 1, 'accepted'],
      [day, 'EMAIL_006'],
    ] as const) {
      const caller = await givenCaller(ctx)
      const { id, link, to } = await givenTheft(ctx, caller)
      // It was a minute ago, and the window is of seven days.
      ctx.clock.advance(6 * day - minute)
      const held = () =>
        heldUp(
          ctx,
          ['users', caller.userId],
          () => redeem(link),
          async () => ctx.clock.advance(ms),
        )
      expect((await held()).code).toBe(code)
      expect(await statusOf(ctx, id)).toBe(code === 'accepted' ? 'reverted' : 'verified')
      expect(await emailOf(ctx, caller)).toBe(code === 'accepted' ? caller.email : to)
    }
  })

  test('L23 a press beside a verification, cancellation, withdrawal or change by the thief ends as if one came after the other', async () => {
    const ends: string[] = []
    for (let round = 0; round < 16; round++) {
      const caller = await givenCaller(ctx)
      const { link } = await givenTheft(ctx, caller, `b-${caller.email}`)
      const next = await givenChange(ctx, caller, `c-${caller.email}`)
      const moves = [
        () => verify(caller, next.id, next.code),
        () => call(caller, 'cancelEmailChange', { ids: { changeRequestId: next.id } }),
        () => withdraw(caller),
        () => change(caller, `d-${caller.email}`),
      ]
      const move = moves[round % moves.length] as () => Promise<Answer>
      const calls = [() => redeem(link), move]
      const [one, two] = await Promise.all((round % 8 < 4 ? calls : calls.toReversed()).map((begin) => begin()))
      const redeemed = (round % 8 < 4 ? one : two) as Answer
      const moved = (round % 8 < 4 ? two : one) as Answer
      ends.push(`${redeemed.code} ${moved.code}`)
      const user = await ctx.db.user.findUniqueOrThrow({ where: { id: caller.userId } })
      // A withdrawal does not look again whether its credential has ended, so that it may come second.
      const isFirst = redeemed.code === 'accepted'
      if (!user.withdrawnAt) expect(isFirst).toBe(true)
      expect(user.email).toBe(isFirst ? caller.email : `b-${caller.email}`)
      const where = { userId: caller.userId, status: { in: ['pending_verification' as const, 'verified' as const] } }
      const open = await ctx.db.emailChangeRequest.count({ where })
      expect(open).toBe(isFirst ? 0 : 1)
    }
    // The withdrawals at least come first, because a redemption hashes a password before it locks anything.
    expect(new Set(ends).size).toBeGreaterThan(1)
  })
})
