import { beforeEach, expect, test } from 'vitest'
import { givenUser, type TestContext, testContext } from '@/testing/domain'
import { atStatement } from '@/testing/statements'
import { givenWithdrawal, stepOf, withdrawAs } from '@/testing/withdrawals'
import type { SystemContext } from '../context'
import { retryWithdrawal } from '../withdrawal/operate-withdrawal'
import { runDeletionStep } from '../withdrawal/run-deletion-step'
import { acceptLostArchives, writeArchive } from './archives'

const [minute, day] = [60_000, 86_400_000]
const step = 'data_archives'

let ctx: TestContext

beforeEach(async () => {
  ctx = await testContext()
})

/** Runs the step a day later, or as soon as it may be tried again; returns its state. */
async function run(withdrawalId: string, changes: Partial<SystemContext> = {}) {
  const { dueAt } = await stepOf(ctx, withdrawalId, step)
  ctx.clock.advance(Math.max(0, Number(dueAt) - ctx.clock.now().getTime()))
  await runDeletionStep({ ...ctx, ...changes }, { withdrawalId, step }).catch(() => {})
  const { status, lastError } = await stepOf(ctx, withdrawalId, step)
  return lastError ?? status
}

/** A withdrawal of a person with this many archives, and the names of their objects. */
async function givenArchives(count: number) {
  const before = new Set(ctx.archived.keys())
  const user = await givenUser(ctx)
  for (let n = 0; n < count; n++) await writeArchive(ctx, user.userId)
  const { id: withdrawalId } = await withdrawAs(ctx, user)
  return { userId: user.userId, withdrawalId, objects: [...ctx.archived.keys()].filter((key) => !before.has(key)) }
}

test('a missing archive fails the step, which deletes the others and ends once the archive is back', async () => {
  const { userId, withdrawalId, objects } = await givenArchives(3)
  const [lost = ''] = objects
  const content = ctx.archived.get(lost) as Uint8Array
  ctx.archived.delete(lost)
  expect(await run(withdrawalId)).toBe('Error archive_missing')
  expect(ctx.archived.size).toBe(0)
  expect(await run(withdrawalId)).toBe('Error archive_missing')
  ctx.archived.set(lost, content)
  expect(await run(withdrawalId)).toBe('completed')
  expect([ctx.archived.size, await ctx.db.archive.count({ where: { userId } })]).toEqual([0, 0])
})

test('a wrong store fails the step', async () => {
  const { withdrawalId, objects } = await givenArchives(2)
  const archives = { ...ctx.archives, exists: async () => false }
  expect(await run(withdrawalId, { archives })).toBe('Error archive_missing')
  expect([...ctx.archived.keys()]).toEqual(objects)
})

test('a run that is killed between two deletions is repeated and ends', async () => {
  const { withdrawalId, objects } = await givenArchives(2)
  const archives = {
    ...ctx.archives,
    delete: async (key: string) => {
      if (key === objects[1]) throw new Error('killed')
      await ctx.archives.delete(key)
    },
  }
  expect(await run(withdrawalId, { archives })).toBe('Error')
  expect(ctx.archived.size).toBe(1)
  expect(await run(withdrawalId)).toBe('completed')
  expect(ctx.archived.size).toBe(0)
})

test('an archive whose writer was killed blocks nothing, and its remains are deleted', async () => {
  const user = await givenUser(ctx)
  const killed = () => Promise.reject(new Error('killed'))
  const beforeObject = { ...ctx.archives, put: killed }
  await expect(writeArchive({ ...ctx, archives: beforeObject }, user.userId)).rejects.toThrow('killed')
  await expect(writeArchive(atStatement(ctx, 'mark-archive-stored', killed), user.userId)).rejects.toThrow('killed')
  expect([ctx.archived.size, await ctx.db.archive.count({ where: { userId: user.userId } })]).toEqual([1, 2])
  const { id: withdrawalId } = await withdrawAs(ctx, user)
  ctx.clock.advance(day)
  expect(await run(withdrawalId)).toBe('completed')
  expect(ctx.archived.size).toBe(0)
})

test('an account that is erased while its archive is written leaves nothing in the store', async () => {
  const user = await givenUser(ctx)
  const archives = {
    ...ctx.archives,
    async put(key: string, content: Uint8Array) {
      const { id: withdrawalId } = await withdrawAs(ctx, user)
      ctx.clock.advance(day)
      expect(await run(withdrawalId)).toBe('completed')
      await ctx.archives.put(key, content)
    },
  }
  await expect(writeArchive({ ...ctx, archives }, user.userId)).rejects.toMatchObject({ code: 'USER_001' })
  expect(ctx.archived.size).toBe(0)
})

test('without a store no archive is written, and an account without archives is erased', async () => {
  const user = await givenUser(ctx)
  await expect(writeArchive({ ...ctx, archives: null }, user.userId)).rejects.toMatchObject({
    code: 'REQUEST_001',
    details: 'No archive store is configured: set ARCHIVE_S3_ENDPOINT or ARCHIVE_DIR.',
  })
  expect(await ctx.db.archive.count({ where: { userId: user.userId } })).toBe(0)
  const { withdrawalId } = await givenArchives(0)
  expect(await run(withdrawalId, { archives: null })).toBe('completed')
})

test('without a store the step of an account with archives fails, and it ends once there is a store again', async () => {
  const { withdrawalId, objects } = await givenArchives(1)
  expect(await run(withdrawalId, { archives: null })).toBe('Error no_archive_store')
  expect([...ctx.archived.keys()]).toEqual(objects)
  expect(await run(withdrawalId)).toBe('completed')
  expect(ctx.archived.size).toBe(0)
})

test('the operator gives up the missing archives, and no others', async () => {
  const { withdrawalId, objects } = await givenArchives(2)
  const other = await givenWithdrawal(ctx)
  ctx.archived.delete(objects[0] as string)
  expect(await run(withdrawalId)).toBe('Error archive_missing')
  expect(await acceptLostArchives(ctx, withdrawalId)).toBe(1)
  expect(await acceptLostArchives(ctx, other.withdrawalId)).toBe(0)
  await retryWithdrawal(ctx, { withdrawalId })
  expect(await run(withdrawalId)).toBe('completed')
  const audited = await ctx.db.auditEvent.findMany({ where: { action: 'archive.loss_accepted' } })
  expect(audited).toMatchObject([{ userId: 'operator-command', actor: 'operator', subjectId: withdrawalId }])
  await expect(acceptLostArchives(ctx, 'wd_unknown')).rejects.toMatchObject({ code: 'WITHDRAWAL_004' })
})

test('without a store the operator gives up all archives of a withdrawal', async () => {
  const { withdrawalId } = await givenArchives(2)
  const gone = { archives: null }
  expect(await run(withdrawalId, gone)).toBe('Error no_archive_store')
  expect(await acceptLostArchives({ ...ctx, archives: null }, withdrawalId)).toBe(2)
  ctx.clock.advance(minute)
  expect(await run(withdrawalId, gone)).toBe('completed')
})
