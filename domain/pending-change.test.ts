import { expect, test } from 'vitest'
import { givenPendingChange } from '@/testing/account'
import { asUser, givenUser, testContext } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import type { PendingChange } from './context'
import { hour } from './limits/durations'
import { requireStillOpenChange } from './pending-change'

test('after a lost race the refusal follows the current row', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { change_request_id: id } = await givenPendingChange(ctx, user)
  const { actor, ...caller } = await asUser(ctx, user)
  // The token check saw another state of the change.
  const pendingChange = { ...(actor.pendingChange as PendingChange), attempts: 5, expiresAt: new Date(0) }
  const now = () => outcomeOf(requireStillOpenChange({ ...caller, actor: { ...actor, pendingChange } }, id))
  expect(await now()).toBe('accepted')
  await ctx.db.emailChangeRequest.update({ where: { id }, data: { attempts: 5 } })
  expect(await now()).toBe('EMAIL_005')
  ctx.clock.advance(12 * hour)
  expect(await now()).toBe('EMAIL_004')
  await ctx.db.emailChangeRequest.update({ where: { id }, data: { status: 'superseded' } })
  expect(await now()).toBe('EMAIL_006')
})
