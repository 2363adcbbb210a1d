import { beforeEach, expect, test } from 'vitest'
import { changeInput, givenPendingChange, givenVerifiedChange, signInFromNew } from '@/testing/account'
import { asNobody, asService, asUser, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { heldUp } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { withdrawAs } from '@/testing/withdrawals'
import { putUser } from '../accounts/put-user'
import { changeEmail } from '../email/change-email'
import { createNotMeToken } from '../email/not-me-token'
import { undoEmailChange } from '../email/undo-email-change'
import { verifyEmail } from '../email/verify-email'
import { NOTICE_KINDS } from '../notices'
import { changePassword } from '../passwords/change-password'
import { requestPasswordReset } from '../passwords/request-password-reset'
import type { MailOutcome } from '../ports'
import { createAccessToken } from '../sessions/access-tokens'
import { exportData } from '../withdrawal/export-data'
import { requestWithdrawal } from '../withdrawal/request-withdrawal'
import { watchBacklog } from '../withdrawal/watch-withdrawals'
import { expireNotices, sendDueNotices } from './notice-queue'

const [minute, day] = [60_000, 86_400_000]
/** The lease of a sender on its notice. */
const LEASE_MS = 20_000

/** Sets the mail server's answer to notices; it accepts verification messages. */
function answering(ctx: TestContext, answer: (to: string) => MailOutcome | Promise<MailOutcome>) {
  const tried: string[] = []
  const { send } = ctx.mail
  ctx.mail.send = async (mail) => {
    if (mail.message.template === 'verify-new-email') return send(mail)
    tried.push(mail.to)
    return answer(mail.to)
  }
  return tried
}

const noticesOf = (ctx: TestContext, userId: string) => ctx.db.notice.findMany({ where: { userId } })

/** People whose notice of a change waits for its next try. */
async function givenWaiting(count: number) {
  const users = await Promise.all(Array.from({ length: count }, () => givenUser(ctx)))
  answering(ctx, () => 'deferred')
  for (const user of users) await givenPendingChange(ctx, user)
  ctx.clock.advance(minute)
  return { users, last: users.at(-1)?.email, addresses: users.map(({ email }) => email).sort() }
}

let ctx: TestContext

beforeEach(async () => {
  ctx = await testContext()
})

test('F11 a notice that the mail server refuses permanently is tried once and counts as failed', async () => {
  const before = (await watchBacklog(ctx)).notices
  const tried = answering(ctx, () => 'refused')
  const user = await givenUser(ctx)
  await givenPendingChange(ctx, user)
  expect(await noticesOf(ctx, user.userId)).toMatchObject([
    { attempts: 1, dueAt: null, sentAt: null, failedAt: ctx.clock.now() },
  ])
  expect((await watchBacklog(ctx)).notices).toMatchObject({ waiting: before.waiting, failed: (before.failed ?? 0) + 1 })
  ctx.clock.advance(2 * day)
  await sendDueNotices(ctx, NOTICE_KINDS)
  expect(tried).toEqual([user.email])
})

test('a permanent refusal of a later try ends the tries', async () => {
  const outcomes: MailOutcome[] = ['deferred', 'deferred', 'refused']
  const tried = answering(ctx, () => outcomes.shift() ?? 'accepted')
  const user = await givenUser(ctx)
  await givenPendingChange(ctx, user)
  for (let n = 0; n < 5; n++) {
    ctx.clock.advance(day)
    await sendDueNotices(ctx, NOTICE_KINDS)
  }
  expect(tried).toHaveLength(3)
  expect(await noticesOf(ctx, user.userId)).toMatchObject([{ attempts: 3, dueAt: null, sentAt: null }])
})

test('F11 a deferred notice is retried with growing waits of up to a day, 65 times in all', async () => {
  const tried = answering(ctx, () => 'deferred')
  const user = await givenUser(ctx)
  await givenPendingChange(ctx, user)
  const waits: number[] = []
  for (;;) {
    const [notice] = await noticesOf(ctx, user.userId)
    if (!notice?.dueAt) break
    waits.push((notice.dueAt.getTime() - ctx.clock.now().getTime()) / minute)
    ctx.clock.advance(notice.dueAt.getTime() - ctx.clock.now().getTime())
    await sendDueNotices(ctx, NOTICE_KINDS)
  }
  expect(waits.slice(0, 7)).toEqual([1, 5, 15, 60, 360, 1440, 1440])
  expect(tried).toHaveLength(65)
  expect(await noticesOf(ctx, user.userId)).toMatchObject([{ attempts: 65, sentAt: null, failedAt: ctx.clock.now() }])
})

test('F30 permanently refused notices do not stop a sweep before the notices behind them', async () => {
  const { last, addresses } = await givenWaiting(5)
  const tried = answering(ctx, (to) => (to === last ? 'accepted' : 'refused'))
  expect(await sendDueNotices(ctx, NOTICE_KINDS, 2)).toBe(1)
  expect(tried.sort()).toEqual(addresses)
})

test('F30 notices whose time is over do not stop a sweep before the notices behind them', async () => {
  const { users, last } = await givenWaiting(3)
  const over = users.slice(0, 2).map(({ userId }) => userId)
  await ctx.db.notice.updateMany({ where: { userId: { in: over } }, data: { expiresAt: ctx.clock.now() } })
  const tried = answering(ctx, () => 'accepted')
  expect(await sendDueNotices(ctx, NOTICE_KINDS, 2)).toBe(1)
  expect(tried).toEqual([last])
  await expireNotices(ctx)
  expect(await noticesOf(ctx, over[0] as string)).toMatchObject([{ attempts: 1, dueAt: null, sentAt: null }])
})

test('F30 notices whose attempt throws wait like deferred ones and do not stop the notices behind them', async () => {
  const { users, last, addresses } = await givenWaiting(5)
  const tried = answering(ctx, (to) => (to === last ? 'accepted' : Promise.reject(new Error('on purpose'))))
  await expect(sendDueNotices(ctx, NOTICE_KINDS, 2)).rejects.toMatchObject({ errors: { length: 4 } })
  expect(tried.sort()).toEqual(addresses)
  expect(await noticesOf(ctx, users[0]?.userId as string)).toMatchObject([
    { attempts: 2, dueAt: new Date(ctx.clock.now().getTime() + 5 * minute) },
  ])
  answering(ctx, () => 'accepted')
  ctx.clock.advance(5 * minute)
  expect(await sendDueNotices(ctx, NOTICE_KINDS)).toBe(4)
})

test('a refusal after another try was accepted changes nothing', async () => {
  const user = await givenUser(ctx)
  const slow = Promise.withResolvers<MailOutcome>()
  const answers = [slow.promise, 'accepted' as const]
  answering(ctx, () => answers.shift() ?? 'accepted')
  await changeEmail(await asUser(ctx, user), changeInput(user, `new-${user.email}`))
  ctx.clock.advance(LEASE_MS)
  expect(await sendDueNotices(ctx, NOTICE_KINDS)).toBe(1)
  slow.resolve('refused')
  await ctx.settle()
  expect(await noticesOf(ctx, user.userId)).toMatchObject([{ sentAt: ctx.clock.now(), failedAt: null }])
})

/** Causes a notice of each kind, to all of its recipients. */
const CAUSES: Record<string, (ctx: TestContext, user: TestUser) => Promise<unknown>> = {
  email_change_requested: (ctx, user) => givenPendingChange(ctx, user),
  async email_changed(ctx, user) {
    const named = { externalId: `ext ${user.userId}`, user_id: user.userId }
    await putUser(asService(ctx), { ...named, email: `owner-${user.email}`, old_mailbox: 'lost' })
    await putUser(asService(ctx), { ...named, email: user.email })
  },
  async email_reverted(ctx, user) {
    await givenVerifiedChange(ctx, user)
    const change = await ctx.db.emailChangeRequest.findFirstOrThrow({ where: { userId: user.userId } })
    const input = { changeRequestId: change.id, new_password: 'a new password' }
    await undoEmailChange(asNobody(ctx, createNotMeToken(ctx, change.id)), input)
  },
  account_withdrawal_started: withdrawAs,
  async password_changed(ctx, user) {
    const input = { current_password: user.password, new_password: 'a new password' }
    return changePassword(await asUser(ctx, user), { userId: user.userId, ...input })
  },
  new_device: (ctx, user) => signInFromNew(ctx, user, 1),
  async new_devices(ctx, user) {
    await signInFromNew(ctx, user, 5)
    ctx.clock.advance(day)
    await sendDueNotices(ctx, NOTICE_KINDS)
  },
  password_reset: (ctx, user) => requestPasswordReset(asNobody(ctx), { email: user.email }),
  withdrawal_requested: (ctx, user) => requestWithdrawal(asNobody(ctx), { email: user.email }),
  async undo_before_withdrawal(ctx, user) {
    await givenVerifiedChange(ctx, user)
    await requestWithdrawal(asNobody(ctx), { email: user.email })
  },
  data_exported: async (ctx, user) => exportData(await asUser(ctx, user), { userId: user.userId }),
  async access_token_created(ctx, user) {
    const input = { name: 'Nightly export', scopes: ['account:manage' as const], expires_in_days: 30 }
    return createAccessToken(await asUser(ctx, user), { userId: user.userId, ...input })
  },
  async account_withdrawal_told(ctx, user) {
    await givenVerifiedChange(ctx, user)
    await CAUSES.account_withdrawal_started?.(ctx, user)
  },
}

test.each(Object.keys(NOTICE_KINDS))(
  "B121 every copy of the notice %s is the same letter, in the account's language, at the first attempt and later",
  async (kind) => {
    const ctx = await testContext()
    const user = await givenUser(ctx)
    await ctx.db.user.update({ where: { id: user.userId }, data: { locale: 'ja' } })
    const letters: { id: string; to: string; locale: string | null; message: unknown }[] = []
    const { send } = ctx.mail
    ctx.mail.send = async (mail) => {
      if (mail.message.template === 'verify-new-email') return send(mail)
      const { userId: _, ...letter } = mail
      letters.push(letter)
      return 'deferred'
    }
    await CAUSES[kind]?.(ctx, user)
    await ctx.settle()
    const written = await ctx.db.notice.findMany({ where: { userId: user.userId, kind } })
    const ids = written.map(({ id }) => id)
    const recipients = new Set(written.map(({ recipient }) => recipient ?? 'sealed'))
    expect(recipients).toEqual(new Set(Object.keys(NOTICE_KINDS[kind]?.recipients ?? {})))
    const ofKind = () => letters.filter(({ id }) => ids.includes(id)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const first = ofKind()
    expect(first).toHaveLength(ids.length)
    expect(first.map(({ locale }) => locale)).toEqual(first.map(() => 'ja'))
    letters.splice(0)
    // A later attempt still sends the letter in the language of that time.
    await ctx.db.user.updateMany({ where: { id: user.userId }, data: { locale: 'de' } })
    ctx.clock.advance(minute)
    await sendDueNotices(ctx, NOTICE_KINDS)
    expect(ofKind()).toEqual(first)
    await ctx.db.notice.deleteMany({ where: { userId: user.userId } })
  },
)

test('a notice of a kind that only a newer instance knows is deferred and not given up', async () => {
  const user = await givenUser(ctx)
  answering(ctx, () => 'deferred')
  await givenPendingChange(ctx, user)
  await ctx.db.notice.updateMany({ where: { userId: user.userId }, data: { kind: 'of_a_later_release' } })
  ctx.clock.advance(minute)
  await sendDueNotices(ctx, NOTICE_KINDS)
  expect(await noticesOf(ctx, user.userId)).toMatchObject([{ attempts: 2, dueAt: expect.any(Date), failedAt: null }])
  await ctx.db.notice.deleteMany({ where: { userId: user.userId } })
})

test('marking notices as sent never waits for a row while it holds another, so no withdrawal can deadlock with it', async () => {
  const user = await givenUser(ctx)
  const { change_request_id, code } = await givenPendingChange(ctx, user)
  ctx.mailServer.accepts = false
  await verifyEmail(await asUser(ctx, user), { userId: user.userId, change_request_id, verification_code: code })
  await ctx.settle()
  ctx.mailServer.accepts = true
  ctx.clock.advance(day)
  const { send } = ctx.mail
  const go = Promise.withResolvers<void>()
  let sending = 0
  ctx.mail.send = async (mail) => {
    sending++
    await go.promise
    return send(mail)
  }
  const sent = sendDueNotices(ctx, NOTICE_KINDS)
  await expect.poll(() => sending).toBe(2)

  const notices = await ctx.db.notice.findMany({
    where: { sentAt: null, dueAt: { not: null } },
    orderBy: { id: 'asc' },
  })
  const [first = '', last = ''] = notices.map(({ id }) => id)
  const marking = async () => {
    go.resolve()
    expect(await sent).toBe(2)
  }
  // A withdrawal locks the same rows in the other order.
  await heldUp(ctx, ['notices', last], marking, (sql) =>
    rawSql(sql, 'UPDATE notices SET attempts = attempts WHERE id = $1', [first]),
  )
  expect(await ctx.db.notice.count({ where: { id: { in: [first, last] }, sentAt: { not: null } } })).toBe(2)
})
