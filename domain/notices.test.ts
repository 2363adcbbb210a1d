import { expect, test } from 'vitest'
import { statement } from './context'
import { verifyEmail } from './email/verify-email'
import { sendDueNotices } from './notices'
import { asUser, givenPendingChange, givenUser, heldUp, testContext } from './testing'

const DAY_MS = 24 * 60 * 60 * 1000

test('marking notices as sent waits for no row while it holds another, so that no withdrawal beside it deadlocks', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { change_request_id, code } = await givenPendingChange(ctx, user)
  ctx.mailServer.accepts = false
  await verifyEmail(await asUser(ctx, user), { userId: user.userId, change_request_id, verification_code: code })
  await ctx.settle()
  ctx.mailServer.accepts = true
  ctx.clock.advance(DAY_MS)
  const { send } = ctx.mail
  const go = Promise.withResolvers<void>()
  let sending = 0
  ctx.mail.send = async (mail) => {
    sending++
    await go.promise
    return send(mail)
  }
  const sent = sendDueNotices(ctx)
  await expect.poll(() => sending, { timeout: 10_000 }).toBe(2)

  const notices = await ctx.db.notice.findMany({
    where: { sentAt: null, dueAt: { not: null } },
    orderBy: { id: 'asc' },
  })
  const [first = '', last = ''] = notices.map(({ id }) => id)
  const marking = async () => {
    go.resolve()
    expect(await sent).toBe(2)
  }
  // As a withdrawal, which comes to the same rows in the other order.
  const touch = statement('touch-notice', 'UPDATE notices SET attempts = attempts WHERE id = $1')
  await heldUp(ctx, ['notices', last], marking, (sql) => sql(touch, [first]))
  expect(await ctx.db.notice.count({ where: { id: { in: [first, last] }, sentAt: { not: null } } })).toBe(2)
})
