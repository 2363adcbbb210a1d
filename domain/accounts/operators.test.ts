import { expect, test } from 'vitest'
import { givenUser, testContext } from '@/testing/domain'
import { withdrawAs } from '@/testing/withdrawals'
import { isOperator, setRole } from './operators'

test('a role is given and taken away, each audited once, and never outlives the account', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { userId } = user
  expect(await isOperator(ctx, userId)).toBe(false)
  for (const isChanged of [true, false]) expect(await setRole(ctx, { userId, role: 'operator' })).toBe(isChanged)
  expect(await isOperator(ctx, userId)).toBe(true)
  for (const isChanged of [true, false]) expect(await setRole(ctx, { userId, role: null })).toBe(isChanged)
  expect(await isOperator(ctx, userId)).toBe(false)
  const audits = await ctx.db.auditEvent.findMany({ where: { userId, action: 'role.changed', actor: 'operator' } })
  expect(audits.map(({ subjectId }) => subjectId).sort()).toEqual(['none', 'operator'])
  await setRole(ctx, { userId, role: 'operator' })
  await withdrawAs(ctx, user)
  expect(await isOperator(ctx, userId)).toBe(false)
  for (const gone of [userId, 'usr_unknown']) {
    await expect(setRole(ctx, { userId: gone, role: 'operator' })).rejects.toMatchObject({ code: 'USER_001' })
  }
  await ctx.settle()
})
