import { expect, test } from 'vitest'
import { asUser, givenUser, runDueWork, tablesWith, testContext } from '@/testing/domain'
import { addTransaction } from '../applications/transactions'
import { purgeRetainedData } from './purge-retained-data'
import { replayErasureLedger } from './replay-erasure-ledger'
import { withdrawAccount } from './withdraw-account'

const day = 24 * 60 * 60 * 1000

test('the ledger names a withdrawal and its times, and nobody', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { withdrawal_id } = await withdrawAccount(await asUser(ctx, user), {
    userId: user.userId,
    confirmation: 'DELETE_MY_ACCOUNT',
    data_retention: { audit_logs: true },
  })
  await ctx.settle()
  const entry = (await ctx.ledger.read()).find(({ withdrawalId }) => withdrawalId === withdrawal_id)
  expect(entry).toEqual({
    withdrawalId: withdrawal_id,
    pseudonym: expect.any(String),
    startedAt: '2026-11-20T09:00:00.000Z',
    keeps: { analytics: false, auditLogs: true, transactionHistory: false },
  })
  for (const text of [user.userId, user.email, 'Ada']) expect(JSON.stringify(entry)).not.toContain(text)
})

test('withdrawals at once stand in the ledger once each', async () => {
  const ctx = await testContext()
  const users = await Promise.all(Array.from({ length: 12 }, () => givenUser(ctx)))
  const actors = await Promise.all(users.map((user) => asUser(ctx, user)))
  const answers = await Promise.all(
    actors.map((actor) => withdrawAccount(actor, { userId: actor.actor.userId, confirmation: 'DELETE_MY_ACCOUNT' })),
  )
  await ctx.settle()
  const ids = (await ctx.ledger.read()).map(({ withdrawalId }) => withdrawalId)
  for (const { withdrawal_id } of answers) expect(ids.filter((id) => id === withdrawal_id)).toEqual([withdrawal_id])
})

test.each([3, 40])('F27 the ledger withdraws again whoever a backup brings back %i days later', async (later) => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const bystander = await givenUser(ctx)
  const backup = await ctx.db.user.findUniqueOrThrow({ where: { id: user.userId } })
  const input = { userId: user.userId, confirmation: 'DELETE_MY_ACCOUNT' as const }
  const { withdrawal_id } = await withdrawAccount(await asUser(ctx, user), input)
  for (let days = 0; days < later; days++) {
    ctx.clock.advance(day)
    await runDueWork(ctx)
  }
  await ctx.settle()
  // The backup was taken before the withdrawal: the account is back, the withdrawal is not.
  await ctx.db.withdrawal.delete({ where: { id: withdrawal_id } })
  await ctx.db.outboxEvent.deleteMany({ where: { id: `evt_${withdrawal_id}` } })
  await ctx.db.user.create({ data: backup })
  // Nothing holds back what was decided already.
  const transaction = { userId: user.userId, description: 'A book', amountCents: 1200, ip: '192.0.2.1' }
  await addTransaction(ctx, { ...transaction, status: 'pending' })

  const entries = new Set((await ctx.ledger.read()).map(({ withdrawalId }) => withdrawalId))
  expect(await replayErasureLedger(ctx)).toEqual({ replayed: 1, already_gone: entries.size - 1 })
  expect(await replayErasureLedger(ctx)).toEqual({ replayed: 0, already_gone: entries.size })
  expect(
    await ctx.db.auditEvent.findMany({ where: { userId: user.userId, action: 'account.withdrawn' } }),
  ).toMatchObject([{ actor: 'system', ip: null, subjectId: withdrawal_id }])
  expect(await ctx.db.notice.count({ where: { withdrawalId: withdrawal_id } })).toBe(0)
  const mails = ctx.mailbox.length
  // Whichever is first: what is overdue by then is erased, and the retention is over.
  if (later > 30) await purgeRetainedData(ctx)
  await runDueWork(ctx)
  expect(await ctx.db.user.count({ where: { id: user.userId } })).toBe(0)
  expect(await ctx.db.user.count({ where: { id: bystander.userId } })).toBe(1)
  const again = await ctx.db.withdrawal.findUniqueOrThrow({ where: { id: withdrawal_id } })
  expect(again.completedAt).not.toBeNull()
  expect(again.userId).toBe(later > 30 ? null : user.userId)
  if (later > 30) expect(await tablesWith(ctx, user.userId)).toEqual([])
  expect(again.startedAt.toISOString()).toBe('2026-11-20T09:00:00.000Z')
  expect(ctx.mailbox.length).toBe(mails)
})
