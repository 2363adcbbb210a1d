import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import type { EventType } from '@/contract/vocabulary'
import { changeInput, givenPendingChange, givenVerifiedChange, verifyChange } from '@/testing/account'
import { asUser, givenUser, runDueWork, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { outcomeOf, placesTaken } from '@/testing/outcomes'
import { givenParticipant } from '@/testing/withdrawals'
import { cancelEmailChange } from '../email/cancel-email-change'
import { changeEmail } from '../email/change-email'
import { getEmailStatus } from '../email/get-email-status'
import { resendVerification } from '../email/resend-verification'
import { userBucket } from '../limits/buckets'
import { deliveryId } from '../mail/mail-deliveries'
import type { MailEvent } from '../ports'
import { watchBacklog } from '../withdrawal/watch-withdrawals'
import { receiveMailEvents } from './mail-events'
import { setEmail } from './set-email'

const minute = 60_000
const UNREAD = { headers: new Headers(), body: Buffer.alloc(0) }

let ctx: TestContext
let user: TestUser

beforeEach(async () => {
  ctx = await testContext()
  user = await givenUser(ctx)
})

/** The service is told these events, as a source would. */
async function report(...events: MailEvent[]) {
  ctx.mailEvents = { dsn: { read: async () => events } }
  await receiveMailEvents(ctx, { source: 'dsn', ...UNREAD })
  await ctx.settle()
}

/** A bounce that is not of another kind is permanent. */
const about = (
  id: string,
  to: string,
  state: MailEvent['state'] = 'undeliverable',
  isPermanent = state === 'undeliverable',
): MailEvent => ({ message: { id }, addresses: [to], state, isPermanent, at: ctx.clock.now() })
const softBounce = (id: string, to: string) => about(id, to, 'undeliverable', false)

const statusOf = async (of = user) => getEmailStatus(await asUser(ctx, of))

const changesCounted = ({ userId } = user) => placesTaken(ctx, userBucket(ctx, 'change', userId))

test('every message has a row with its Message-ID, kind and state, and no address in the clear', async () => {
  const change = await givenPendingChange(ctx, user)
  const rows = await ctx.db.mailDelivery.findMany({ where: { userId: user.userId }, orderBy: { kind: 'asc' } })
  const notice = ctx.mailbox.find(({ to }) => to === user.email)
  expect(rows).toMatchObject([
    { messageId: notice?.id, kind: 'email_change_requested', recipient: 'old', state: 'sent' },
    { messageId: change.change_request_id, kind: 'verification', recipient: null, state: 'sent' },
  ])
  expect(rows.map(({ id }) => id)).toEqual(rows.map(({ messageId }) => deliveryId(ctx.secrets, messageId)))
  expect(JSON.stringify(rows)).not.toContain('@')
})

test('a verification message that comes back shows in the status, and gives the place in the hourly limit back once', async () => {
  const { change_request_id: id, new_email: to } = await givenPendingChange(ctx, user)
  expect(await changesCounted()).toBe(1)
  await report(about(id, to), about(id, to), about(id, to, 'delivered'))
  expect((await statusOf()).pending_change.delivery).toBe('undeliverable')
  expect(await changesCounted()).toBe(0)
  await givenPendingChange(ctx, user, `other-${user.email}`)
  await report(about(id, to))
  expect(await changesCounted()).toBe(1)
  expect((await statusOf()).pending_change.delivery).toBe('sent')
})

test('B70 bounces give one place back within the window of the limit, and another one after it', async () => {
  const bounced = async () => {
    const newEmail = `n${randomBytes(6).toString('hex')}@b.test`
    const { change_request_id: id, new_email: to } = await givenPendingChange(ctx, user, newEmail)
    await report(softBounce(id, to))
    return changesCounted()
  }
  const counts = []
  for (let n = 0; n < 4; n++) counts.push(await bounced())
  expect(counts).toEqual([0, 1, 2, 3])
  expect(await outcomeOf(changeEmail(await asUser(ctx, user), changeInput(user, 'n@b.test')))).toBe('EMAIL_008')
  ctx.clock.advance(ctx.limits.change.windowMs)
  expect([await bounced(), await bounced()]).toEqual([0, 1])
})

test('a resent message starts as sent, and a late bounce of the first one says nothing of it', async () => {
  const { change_request_id: id, new_email: to } = await givenPendingChange(ctx, user)
  await report(about(id, to, 'deferred'))
  ctx.clock.advance(5 * minute)
  await resendVerification(await asUser(ctx, user), { userId: user.userId, change_request_id: id })
  await ctx.settle()
  await report(about(id, to))
  expect((await statusOf()).pending_change.delivery).toBe('sent')
  const resent = `${id}-${ctx.clock.now().getTime()}`
  await report(about(resent, to, 'delivered'))
  expect((await statusOf()).pending_change.delivery).toBe('delivered')
  expect(await changesCounted()).toBe(0)
})

test('an event counts only for the address that its message was sent to, by whatever spelling', async () => {
  const { change_request_id: id, new_email: to } = await givenPendingChange(ctx, user)
  await report(about(id, user.email), about(id, 'no address'))
  expect((await statusOf()).pending_change.delivery).toBe('sent')
  await report({ ...about(id, 'alias@elsewhere.test'), addresses: ['alias@elsewhere.test', to.toUpperCase()] })
  expect((await statusOf()).pending_change.delivery).toBe('undeliverable')
})

/** What an application hears of undelivered messages. */
async function givenListener() {
  const received: { type: EventType; data: object }[] = []
  const endpoint = `https://${randomBytes(8).toString('hex')}.test`
  ctx.apps.answer = async (request) => {
    if (request.endpoint === endpoint) received.push(JSON.parse(request.body))
    return { status: 204 }
  }
  const events: EventType[] = ['account.email_undeliverable', 'account.security_notice_undelivered']
  await givenParticipant(ctx, 'shop', { endpoint, events, acknowledges: 'at_once' })
  return received
}

const noticeTo = (to: string) => ctx.mailbox.findLast((mail) => mail.to === to)?.id ?? ''

test('an account whose own address takes no mail is told of, may prove that address again, and a right code clears it', async () => {
  const received = await givenListener()
  const caller = await asUser(ctx, user)
  expect(await outcomeOf(changeEmail(caller, changeInput(user, user.email)))).toBe('EMAIL_002')
  await givenPendingChange(ctx, user)
  const id = noticeTo(user.email)
  await report(about(id, user.email), about(id, user.email))
  expect(received.filter(({ type }) => type === 'account.email_undeliverable')).toHaveLength(1)
  // An update that keeps the address, though in other letters, proves nothing.
  for (const email of [user.email.toUpperCase(), user.email]) await setEmail(ctx, { userId: user.userId, email })
  expect((await statusOf()).email_undeliverable).toBe(true)
  const own = await givenPendingChange(ctx, user, user.email)
  ctx.clock.advance(1)
  await verifyChange(ctx, user, own)
  expect(await statusOf()).toMatchObject({ current_email: user.email, email_undeliverable: false })
  await ctx.settle()
  // Sent before the proof, so it says nothing.
  await ctx.db.mailDelivery.updateMany({ where: { messageId: id }, data: { state: 'sent' } })
  await report(about(id, user.email))
  expect((await statusOf()).email_undeliverable).toBe(false)
})

test('B71 a soft bounce of any message leaves the account as it is, and a permanent failure of the same message marks it, in either order', async () => {
  const received = await givenListener()
  const own = await givenPendingChange(ctx, user)
  const notice = noticeTo(user.email)
  await report(softBounce(notice, user.email), softBounce(own.change_request_id, own.new_email))
  expect(await statusOf()).toMatchObject({ email_undeliverable: false, pending_change: { delivery: 'undeliverable' } })
  expect(received.map(({ type }) => type)).toEqual(['account.security_notice_undelivered'])
  await report(about(notice, user.email), softBounce(notice, user.email), about(notice, user.email))
  expect(await statusOf()).toMatchObject({ email_undeliverable: true })
  expect(received.map(({ type }) => type)).toEqual([
    'account.security_notice_undelivered',
    'account.email_undeliverable',
  ])
})

test('B69 a report is looked up once, however many recipients it has, and an event without a time is old', async () => {
  const names: string[] = []
  const { sql } = ctx
  ctx.sql = (statement, values) => {
    names.push(statement.name)
    return sql(statement, values)
  }
  const unknown = (n: number) => ({ ...about(`ecr_${String(n).padStart(22, 'A')}`, 'ada@example.test'), at: null })
  await report(...Array.from({ length: 20 }, (_, n) => unknown(n)))
  expect(names).toEqual(['find-mail-deliveries'])
})

test('a security notice to the old address that comes back is told of, though the account has that address no longer', async () => {
  const received = await givenListener()
  const { change_request_id, new_email: newEmail } = await givenVerifiedChange(ctx, user)
  await report(about(noticeTo(user.email), user.email))
  await runDueWork(ctx)
  expect(received).toMatchObject([
    { type: 'account.security_notice_undelivered', data: { account: user.userId, change_request_id } },
  ])
  expect(await statusOf()).toMatchObject({ current_email: newEmail, email_undeliverable: false })
})

test('nobody is told when the letter to an old mailbox that is lost comes back, because it let nobody undo the change', async () => {
  const received = await givenListener()
  await setEmail(ctx, { userId: user.userId, email: `safe-${user.email}`, oldMailbox: 'lost' })
  await runDueWork(ctx)
  received.length = 0
  const id = noticeTo(user.email)
  await report(about(id, user.email))
  await runDueWork(ctx)
  expect(received).toEqual([])
  expect(await ctx.db.mailDelivery.findMany({ where: { messageId: id } })).toMatchObject([{ state: 'undeliverable' }])
})

test.each<[string, () => Promise<() => Promise<unknown>>]>([
  [
    'a change whose old mailbox was said to be lost since',
    async () => {
      const { new_email: email } = await givenVerifiedChange(ctx, user)
      return () => setEmail(ctx, { userId: user.userId, email, oldMailbox: 'lost' })
    },
  ],
  [
    'a request that was cancelled since',
    async () => {
      const { change_request_id: changeRequestId } = await givenPendingChange(ctx, user)
      return async () => cancelEmailChange(await asUser(ctx, user), { userId: user.userId, changeRequestId })
    },
  ],
])(
  'B116 a warning that comes back is told of, and shown to the operator, unless it was of %s',
  async (_what, given) => {
    const received = await givenListener()
    const unwarned = async () => (await watchBacklog(ctx)).notices.unwarned ?? 0
    const before = await unwarned()
    for (const isEarly of [true, false]) {
      user = await givenUser(ctx)
      const end = await given()
      const bounce = () => report(softBounce(noticeTo(user.email), user.email))
      if (isEarly) {
        await bounce()
        expect(await unwarned()).toBe(before + 1)
      }
      await end()
      if (!isEarly) await bounce()
      await runDueWork(ctx)
      expect(await unwarned()).toBe(before)
    }
    expect(received.filter(({ type }) => type === 'account.security_notice_undelivered')).toHaveLength(1)
  },
)

const SEED = Number(process.env.PROOF_SEED ?? Date.now())
/** Each has two messages, and twenty-four events of them are told. */
const PEOPLE = Number(process.env.PEOPLE ?? 6)

test('I16 events that come twice, at once, in any order and for messages of strangers have each effect once', async () => {
  await givenListener()
  const users = [user]
  while (users.length < PEOPLE) users.push(await givenUser(ctx))
  const changes: Awaited<ReturnType<typeof givenPendingChange>>[] = []
  for (const user of users) changes.push(await givenPendingChange(ctx, user))
  const known = users.flatMap((user, n) => {
    const [id, to] = [changes[n]?.change_request_id ?? '', changes[n]?.new_email ?? '']
    const states = ['delivered', 'deferred', 'undeliverable'] as const
    return states.flatMap((state) => [about(id, to, state), about(noticeTo(user.email), user.email, state)])
  })
  const old = new Date(0)
  const ofStrangers = known.map((event, n) => ({ ...event, message: { id: `ecr_stranger${n}` }, at: old }))
  const mistaken = known.map((event) => ({ ...event, addresses: ['somebody@else.test'] }))
  const each = [...known, ...known, ...ofStrangers, ...mistaken]
  const anyOrder = fc.shuffledSubarray(each, { minLength: each.length })
  const [all = []] = fc.sample(anyOrder, { numRuns: 1, seed: SEED })
  ctx.mailEvents = { dsn: { read: async ({ body }) => all.filter((_, n) => n % 8 === body[0]) } }
  const parts = Array.from({ length: 8 }, (_, n) => ({ headers: new Headers(), body: Buffer.of(n) }))
  await Promise.all(parts.map((part) => receiveMailEvents(ctx, { source: 'dsn', ...part })))
  await ctx.settle()
  for (const one of users) {
    const rows = await ctx.db.event.findMany({ where: { userId: one.userId }, orderBy: { type: 'asc' } })
    expect(
      rows.map(({ type }) => type),
      `PROOF_SEED=${SEED}`,
    ).toEqual(['account.email_undeliverable', 'account.security_notice_undelivered'])
    expect(await changesCounted(one), `PROOF_SEED=${SEED}`).toBe(0)
    expect(await statusOf(one), `PROOF_SEED=${SEED}`).toMatchObject({
      email_undeliverable: true,
      pending_change: { delivery: 'undeliverable' },
    })
  }
})

test('an event that comes before the row of its message is asked for again while it is new, and later changes nothing', async () => {
  const early = about(`ecr_${'A'.repeat(22)}`, 'ada@example.test')
  await expect(report(early)).rejects.toMatchObject({ code: 'SERVER_002', retryAfterSeconds: 30 })
  ctx.clock.advance(5 * minute)
  await expect(report(early)).resolves.toBeUndefined()
})
