import { expect, test } from 'vitest'
import { createSecrets } from '@/server/adapters/secrets'
import { givenSession, givenUser, type TestContext, type TestUser } from '@/testing/domain'
import { givenLedger, restored, withdrawAs } from '@/testing/withdrawals'
import { markAccounts } from '../accounts/mark-accounts'
import { keyIdsOf } from '../pseudonyms'
import { replayGap } from './replay-erasure-ledger'

const ROTATED = createSecrets({
  auth: ['auth-secret-for-tests'],
  code: ['a-newer-code-secret', 'code-secret-for-tests'],
})

const accountOf = (ctx: TestContext, { userId }: TestUser) => ctx.db.user.findUniqueOrThrow({ where: { id: userId } })

test('F61 a line finds its account by the mark', async () => {
  const ctx = await givenLedger()
  const [leaver, stays] = [await givenUser(ctx), await givenUser(ctx)]
  await markAccounts(ctx)
  await restored(ctx, () => withdrawAs(ctx, leaver))
  // No account is without a mark, so that no other way is left.
  expect(await ctx.db.user.count({ where: { ledgerMark: null } })).toBe(0)
  expect(await replayGap(ctx)).toMatchObject({ replayed: 1, verified: true })
  expect(await accountOf(ctx, stays)).toMatchObject({ withdrawnAt: null })
})

test('F61 a line finds an account that an older release has left without a mark, and the sweep marks it', async () => {
  const ctx = await givenLedger()
  const [leaver, stays] = [await givenUser(ctx), await givenUser(ctx)]
  const { ledgerMark } = await accountOf(ctx, stays)
  await ctx.db.user.updateMany({ data: { ledgerMark: null } })
  await restored(ctx, () => withdrawAs(ctx, leaver))
  expect(await replayGap(ctx)).toMatchObject({ replayed: 1 })
  await markAccounts(ctx)
  expect(ledgerMark).not.toBeNull()
  expect(await accountOf(ctx, stays)).toMatchObject({ ledgerMark })
})

test('F61 across a rotation lines of either secret find accounts that bear the mark of the older one, and are then found by the newer', async () => {
  const ctx = await givenLedger()
  const [first, second, third] = [await givenUser(ctx), await givenUser(ctx), await givenUser(ctx)]
  await restored(ctx, async () => {
    await withdrawAs(ctx, first)
    ctx.secrets = ROTATED
    await withdrawAs(ctx, second)
  })
  expect(await replayGap(ctx)).toMatchObject({ replayed: 2, unknown_keys: 0 })
  await markAccounts(ctx)
  expect((await accountOf(ctx, third)).ledgerMark).toContain(`${keyIdsOf(ctx)[0]}.`)
  await restored(ctx, async () => withdrawAs(ctx, { ...third, sessionId: await givenSession(ctx, third.userId) }))
  expect(await replayGap(ctx)).toMatchObject({ replayed: 1, unknown_keys: 0 })
})
