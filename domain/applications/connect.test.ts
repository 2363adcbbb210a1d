import { beforeEach, describe, expect, test } from 'vitest'
import { call, hour, withdraw } from '@/testing/api-calls'
import { givenCaller, givenServiceToken } from '@/testing/callers'
import { pass, type TestContext } from '@/testing/domain'
import { installed } from '@/testing/install-context'
import { outcomeOf, tally } from '@/testing/outcomes'
import { givenParticipant } from '@/testing/withdrawals'
import { connectApp } from './connect'

let ctx: TestContext
let service: { id: string; userId: string; token: string }
let caller: Awaited<ReturnType<typeof givenCaller>>
let externalId: string
let appId: string

beforeEach(async () => {
  ctx = await installed()
  service = await givenServiceToken(ctx)
  caller = await givenCaller(ctx)
  externalId = `customer of ${caller.userId}`
  await ctx.db.user.update({ where: { id: caller.userId }, data: { externalId } })
  appId = await givenParticipant(ctx, 'shop', { audience: 'connected', acknowledges: 'at_once' })
})

const ids = (more: object = {}) => ({ externalId: encodeURIComponent(externalId), appId, ...more })
const put = (subject: unknown, more: object = {}) =>
  call(service, 'putConnection', { ids: ids(more), body: { subject } })
const remove = (more: object = {}) => call(service, 'removeConnection', { ids: ids(more) })
const list = (more: object = {}) => call(service, 'listConnections', { ids: ids(more) })
const audits = async () => {
  const about = { userId: caller.userId, action: { startsWith: 'connection.' } }
  const rows = await ctx.db.auditEvent.findMany({ where: about })
  return rows.map(({ action, actor, actorId, subjectId }) => ({ action, actor, actorId, subjectId }))
}

describe('a service', () => {
  test('connects a person, lists that, changes the subject and ends it, and the same call again has no effect', async () => {
    const connected = { user_id: caller.userId, app_id: appId, subject: 'reader 7' }
    expect((await put('reader 7')).data).toEqual(connected)
    expect(await put('reader 7')).toMatchObject({ status: 200, data: connected })
    const connectedAt = ctx.clock.now().toISOString()
    ctx.clock.advance(hour)
    expect((await put('reader 8')).data).toEqual({ ...connected, subject: 'reader 8' })
    expect((await list()).data).toEqual({
      user_id: caller.userId,
      connections: [{ app_id: appId, name: 'shop', subject: 'reader 8', connected_at: connectedAt }],
    })
    const removed = { user_id: caller.userId, app_id: appId, removed: true }
    expect((await remove()).data).toEqual(removed)
    expect((await remove()).data).toEqual({ ...removed, removed: false })
    expect((await list()).data).toEqual({ user_id: caller.userId, connections: [] })
    const row = { actor: 'service', actorId: service.id, subjectId: appId }
    expect(await audits()).toEqual([
      { ...row, action: 'connection.put' },
      { ...row, action: 'connection.put' },
      { ...row, action: 'connection.removed' },
    ])
  })

  test('is refused for an unknown person or application, and for a subject that is no id', async () => {
    const none = { externalId: 'none' }
    expect((await put('x', none)).code).toBe('USER_001')
    expect((await remove(none)).code).toBe('USER_001')
    expect((await list(none)).code).toBe('USER_001')
    const unknown = await call(await givenServiceToken(ctx, ['apps:manage']), 'getApp', { ids: { appId: 'app_none' } })
    for (const answer of [await put('x', { appId: 'app_none' }), await remove({ appId: 'app_none' })]) {
      expect([answer.status, answer.code, answer.details]).toEqual([404, 'REQUEST_005', unknown.details])
    }
    for (const subject of [undefined, null, 7, '', 'é'.repeat(128), 'a\nb', 'a\u0000b']) {
      const { code, details } = await put(subject)
      expect([subject, code, details.includes('subject')]).toEqual([subject, 'REQUEST_001', true])
    }
    expect((await put('é'.repeat(127))).code).toBe('accepted')
  })

  test('connects a person once in parallel calls, with one audit row for each effect', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => put('reader 7')))
    expect(tally(answers.map(({ code }) => code))).toEqual({ accepted: 20 })
    expect((await audits()).length).toBe(1)
    const removed = await Promise.all(Array.from({ length: 20 }, () => remove()))
    expect(removed.filter(({ data }) => data.removed)).toHaveLength(1)
    expect((await audits()).length).toBe(2)
  })

  test('connects nobody whose account is withdrawn, and a withdrawal tells every application whose call was accepted before', async () => {
    const [answer, withdrawal] = await Promise.all([put('reader 7'), withdraw(caller)])
    expect(['accepted', 'USER_001']).toContain(answer.code)
    const { withdrawal_id: withdrawalId } = withdrawal.data as { withdrawal_id: string }
    const tasks = await ctx.db.deletionTask.count({ where: { withdrawalId, appId } })
    expect(tasks).toBe(answer.code === 'accepted' ? 1 : 0)
    for (const late of [await put('reader 8'), await remove(), await list()]) expect(late.code).toBe('USER_001')
  })

  test('connects a person to a disabled application too, whose task then waits', async () => {
    await ctx.db.connectedApp.update({ where: { id: appId }, data: { disabledAt: ctx.clock.now() } })
    expect((await put('reader 7')).code).toBe('accepted')
    await withdraw(caller)
    await pass(ctx, hour)
    expect(await ctx.db.deletionTask.findFirstOrThrow({ where: { appId } })).toMatchObject({ status: 'pending' })
  })
})

test('the person reads the names of the applications that they are connected to before the deletion', async () => {
  await givenParticipant(ctx, 'another', { audience: 'connected' })
  await put('reader 7')
  const { data } = await call(caller, 'previewWithdrawal')
  expect((data.applications as { name: string }[]).filter(({ name }) => ['shop', 'another'].includes(name))).toEqual([
    { name: 'shop', acknowledges: 'at_once' },
  ])
})

test('the operator command writes the same connection, audited as the operator', async () => {
  const { connectionId } = await connectApp(ctx, { userId: caller.userId, appId, subject: 'reader 7' })
  expect((await put('reader 7')).code).toBe('accepted')
  const rows = await ctx.db.appConnection.findMany({ where: { userId: caller.userId } })
  expect(rows.map(({ id }) => id)).toEqual([connectionId])
  expect(await audits()).toEqual([{ action: 'connection.put', actor: 'operator', actorId: null, subjectId: appId }])
  expect(await outcomeOf(connectApp(ctx, { userId: 'usr_none', appId, subject: 'x' }))).toBe('USER_001')
  const unknown = { userId: caller.userId, appId: 'app_none', subject: 'x' }
  expect(await outcomeOf(connectApp(ctx, unknown))).toBe('REQUEST_005')
})
