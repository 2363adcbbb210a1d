import { expect, test } from 'vitest'
import { givenUser, type TestContext } from '@/testing/domain'
import { givenLedger, ledgerLines, restored, unmountLedger, withdrawAs } from '@/testing/withdrawals'
import { acceptOldDatabase } from './ledger/adopt-erasure-ledger'
import { compareWithLedger } from './ledger/compare-with-ledger'
import { writeErasureLedger } from './ledger/erasure-ledger'
import { listReceipts } from './receipts/receipts'
import { replayErasureLedger, replayGap } from './replay-erasure-ledger'

// What a failover to a replica that lagged loses, point by point of decision 0016.

const headOf = (ctx: TestContext) => ctx.db.erasureLedgerHead.findFirstOrThrow()

const seqs = (ctx: TestContext) => ledgerLines(ctx).map(({ seq }) => seq)

test('F43 a database that lost withdrawals and their lines is behind, and each is withdrawn again under its own id, once', async () => {
  const ctx = await givenLedger()
  await withdrawAs(ctx, await givenUser(ctx))
  const user = await givenUser(ctx)
  const { id, receipt } = await restored(ctx, () => withdrawAs(ctx, user))
  expect(await compareWithLedger(ctx)).toMatchObject({ state: 'behind', lines: 1 })
  const mails = ctx.mailbox.length

  const reports = await Promise.all([replayGap(ctx), replayGap(ctx), replayGap(ctx)])
  expect(reports.filter(Boolean)).toMatchObject([{ lines: 1, verified: true, replayed: 1 }])
  expect(await replayGap(ctx)).toBeNull()
  expect((await compareWithLedger(ctx)).state).toBe('level')
  expect(await ctx.db.user.findUniqueOrThrow({ where: { id: user.userId } })).toMatchObject({
    withdrawnAt: expect.any(Date),
  })
  expect((await listReceipts(ctx, { withdrawalId: id })).receipts).toMatchObject([{ kind: 'acceptance', receipt }])
  await writeErasureLedger(ctx)
  expect(seqs(ctx)).toEqual([1, 2])
  expect(ctx.mailbox.length).toBe(mails)
})

test('F43 a withdrawal whose line alone was lost gets no second line', async () => {
  const ctx = await givenLedger()
  const before = await headOf(ctx)
  const { id } = await withdrawAs(ctx, await givenUser(ctx))
  await ctx.db.erasureLedgerHead.updateMany({ data: before })
  await ctx.db.withdrawal.update({ where: { id }, data: { ledgeredAt: null, ledgerSeq: null, ledgerHash: null } })
  expect(await replayGap(ctx)).toMatchObject({ lines: 1, verified: true, replayed: 0 })
  await writeErasureLedger(ctx)
  expect(seqs(ctx)).toEqual([1])
  expect(await ctx.db.withdrawal.findUniqueOrThrow({ where: { id } })).toMatchObject({ ledgerSeq: 1 })
})

test('F43 a batch whose mark was lost is not behind, and a replay writes none of its lines twice', async () => {
  const ctx = await givenLedger()
  const first = await withdrawAs(ctx, await givenUser(ctx))
  const [name = ''] = [...ctx.ledgered.keys()].filter((key) => key.endsWith('.ndjson'))
  const lines = ctx.ledgered.get(name) ?? ''
  await ctx.db.erasureLedgerBatch.create({ data: { firstSeq: 1, lines } })
  expect((await compareWithLedger(ctx)).state).toBe('level')
  const before = await headOf(ctx)
  const second = await withdrawAs(ctx, await givenUser(ctx))
  await ctx.db.erasureLedgerBatch.create({ data: { firstSeq: 1, lines } })
  await ctx.db.erasureLedgerHead.updateMany({ data: before })
  await ctx.db.withdrawal.update({ where: { id: second.id }, data: { ledgeredAt: null, ledgerSeq: null } })
  expect(await replayGap(ctx)).toMatchObject({ verified: true, replayed: 0 })
  await writeErasureLedger(ctx)
  expect(seqs(ctx)).toEqual([1, 2])
  const rows = await ctx.db.withdrawal.findMany({
    where: { id: { in: [first.id, second.id] } },
    orderBy: { ledgerSeq: 'asc' },
  })
  expect(rows.map(({ ledgerSeq }) => ledgerSeq)).toEqual([1, 2])
})

test('F43 a withdrawal of the new primary that took the place of a lost line gets a line behind it', async () => {
  const ctx = await givenLedger()
  const [before, lost] = [await headOf(ctx), await withdrawAs(ctx, await givenUser(ctx))]
  await ctx.db.erasureLedgerHead.updateMany({ data: before })
  await ctx.db.withdrawal.update({ where: { id: lost.id }, data: { ledgeredAt: null, ledgerSeq: null } })
  await ctx.db.withdrawal.updateMany({ where: { id: lost.id }, data: { ledgeredAt: ctx.clock.now() } })
  ctx.waitsForLedger = false
  const { id } = await withdrawAs(ctx, await givenUser(ctx))
  await ctx.db.withdrawal.update({ where: { id: lost.id }, data: { ledgeredAt: null } })
  expect(await compareWithLedger(ctx)).toMatchObject({ state: 'behind' })
  expect(await replayGap(ctx)).toMatchObject({ verified: true })
  await writeErasureLedger(ctx)
  expect(ledgerLines(ctx).map(({ withdrawalId }) => withdrawalId)).toEqual([lost.id, id])
  expect(await replayErasureLedger(ctx)).toMatchObject({ lines: 2, verified: true })
})

test('F44 a store that lacks the newest stored batch is another store, until the operator begins anew', async () => {
  const ctx = await givenLedger()
  await withdrawAs(ctx, await givenUser(ctx))
  const mount = unmountLedger(ctx)
  expect((await compareWithLedger(ctx)).state).toBe('missing')
  mount()
  expect((await compareWithLedger(ctx)).state).toBe('level')
  ctx.ledgered.clear()
  await acceptOldDatabase(ctx)
  expect((await compareWithLedger(ctx)).state).toBe('level')
  await withdrawAs(ctx, await givenUser(ctx))
  expect(seqs(ctx)).toEqual([2])
  expect(await replayErasureLedger(ctx)).toMatchObject({ lines: 1, verified: true, problems: [] })
})

test('F43 a gap with a changed line is replayed as far as it can be read, and stays for the operator', async () => {
  const ctx = await givenLedger()
  await withdrawAs(ctx, await givenUser(ctx))
  const before = await headOf(ctx)
  const { id } = await withdrawAs(ctx, await givenUser(ctx))
  await ctx.db.erasureLedgerHead.updateMany({ data: before })
  const name = [...ctx.ledgered.keys()].filter((key) => key.endsWith('.ndjson')).at(-1) ?? ''
  ctx.ledgered.set(name, (ctx.ledgered.get(name) ?? '').replace('"prev":"', '"prev":"x'))
  expect(await replayGap(ctx)).toMatchObject({ verified: false, error: expect.stringContaining('not whole') })
  expect((await compareWithLedger(ctx)).state).toBe('behind')
  expect(await ctx.db.withdrawal.count({ where: { id } })).toBe(1)
})
