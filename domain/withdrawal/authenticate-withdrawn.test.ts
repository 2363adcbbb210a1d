import { expect, test } from 'vitest'
import { day } from '@/domain/limits/durations'
import { givenUser, pass, testContext, withdrawAs } from '@/testing/domain'
import { authenticateWithdrawn } from './authenticate-withdrawn'

test('a status token reads its own withdrawal under its own user, and nothing else, until the retained data is purged', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const other = await givenUser(ctx)
  const started = await withdrawAs(ctx, user)
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
