import { expect, test } from 'vitest'
import { day } from '@/domain/limits/durations'
import { asUser, givenUser, pass, testContext } from '@/testing/domain'
import { authenticateWithdrawn } from './authenticate-withdrawn'
import { withdrawAccount } from './withdraw-account'

test('a status token reads its own withdrawal under its own user, and nothing else, until the retained data is purged', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const other = await givenUser(ctx)
  const started = await withdrawAccount(await asUser(ctx, user), {
    userId: user.userId,
    confirmation: 'DELETE_MY_ACCOUNT',
  })
  const read = (userId: string, withdrawalId = started.withdrawal_id) =>
    authenticateWithdrawn(ctx, { token: started.status_token }, { userId, withdrawalId }, 'reads')
  expect(await read(user.userId)).toMatchObject({ kind: 'status_token', withdrawal: { id: started.withdrawal_id } })
  expect(await read(user.userId, 'wd_unknown')).toBeNull()
  // The database cannot store the last one, so it must not be looked up.
  for (const userId of [other.userId, '', '\0']) expect(await read(userId)).toBeNull()
  await pass(ctx, 2 * day)
  expect(await read(user.userId)).not.toBeNull()
  await pass(ctx, 30 * day)
  expect(await read(user.userId)).toBeNull()
})
