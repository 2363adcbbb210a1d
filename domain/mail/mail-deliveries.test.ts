import { expect, test } from 'vitest'
import { givenUser, type TestUser, testContext } from '@/testing/domain'
import { heldUp } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { recordMails } from './mail-deliveries'

test('B118 a mail of an account that is being erased has no row, and the mails that are noted with it have theirs at once', async () => {
  const ctx = await testContext()
  const [erased, other] = [await givenUser(ctx), await givenUser(ctx)]
  const toMail = ({ userId, email: to }: TestUser) => ({
    ...{ messageId: `ntc_${userId}`, userId, kind: 'data_exported', recipient: 'sealed', changeId: null, to },
    sentAt: ctx.clock.now(),
  })
  await heldUp(
    ctx,
    ['users', erased.userId],
    () => recordMails(ctx, [erased, other].map(toMail)),
    async (sql) => {
      expect(await ctx.db.mailDelivery.count({ where: { userId: other.userId } })).toBe(1)
      await rawSql(sql, 'DELETE FROM users WHERE id = $1', [erased.userId])
    },
  )
  const rows = await ctx.db.mailDelivery.findMany({ where: { userId: { in: [erased.userId, other.userId] } } })
  expect(rows.map(({ userId }) => userId)).toEqual([other.userId])
})
