import { readFileSync } from 'node:fs'
import { beforeEach, expect, test, vi } from 'vitest'
import { changeInput, givenVerifiedChange, signInAs } from '@/testing/account'
import { asUser, givenUser, type TestContext, testContext } from '@/testing/domain'
import { addAudit } from '../audit'
import { AUDIT_ACTIONS } from '../audit-actions'
import { changeEmail } from '../email/change-email'
import type { AuditRecord } from '../ports'
import { exportAudit, sendAudit } from './export-audit'

const second = 1_000

let ctx: TestContext
let since: Date
beforeEach(async () => {
  ctx = await testContext()
  await ctx.db.auditEvent.deleteMany()
  await ctx.db.auditCollector.deleteMany()
  since = ctx.clock.now()
})

async function exported(): Promise<AuditRecord[]> {
  const records: AuditRecord[] = []
  for await (const batch of exportAudit(ctx, { since })) records.push(...batch)
  return records
}

test('B91 the export tells what happened by which way, and nothing personal', async () => {
  const user = await givenUser(ctx)
  const browser = { userAgent: 'Firefox/145.0', ip: '192.0.2.250', device: 'd' }
  await signInAs(ctx, user, browser)
  await signInAs(ctx, { ...user, password: 'wrong' }, browser)
  await givenVerifiedChange(ctx, user)
  await changeEmail(await asUser(ctx, user), changeInput(user, `third-${user.email}`))
  await ctx.settle()
  const records = await exported()
  const account = ctx.secrets.mac('pseudonym', user.userId).toString('base64url')
  const session_id = expect.stringMatching(/^ses_/)
  const change_request_id = expect.stringMatching(/^ecr_/)
  const at = since.toISOString()
  expect(records).toEqual(
    expect.arrayContaining([
      { at, event: 'user.created', account, way: 'operator' },
      { at, event: 'sign_in', account, way: 'password', session_id },
      { at, event: 'sign_in_refused', account, way: 'password' },
      { at, event: 'email_change.requested', account, way: 'session', change_request_id },
      { at, event: 'email.changed', account, way: 'session', change_request_id },
    ]),
  )
  const json = JSON.stringify(records)
  for (const personal of [user.userId, user.email, '"Ada', '192.0.2', 'Firefox']) expect(json).not.toContain(personal)
})

test('B91 the export names the service token that acted, also by a page token, and of an operator the pseudonym alone', async () => {
  const { userId } = await givenUser(ctx)
  const add = (actor: string, actorId: string) =>
    addAudit(ctx, 'user.updated', { userId, actor, actorId, ip: null, at: ctx.clock.now() })
  for (const actor of ['service', 'page_token']) await add(actor, 'svt_one')
  await add('operator', userId)
  const named = (await exported()).flatMap(({ event, at: _, account: __, ...rest }) =>
    event === 'user.updated' ? [rest] : [],
  )
  expect(named.toSorted((one, other) => one.way.localeCompare(other.way))).toEqual([
    { way: 'operator', operator: ctx.secrets.mac('pseudonym', userId).toString('base64url') },
    { way: 'page_token', service_token_id: 'svt_one' },
    { way: 'service', service_token_id: 'svt_one' },
  ])
})

test('B91 an act of an operator on no account names no account', async () => {
  const { userId } = await givenUser(ctx)
  const of = { userId, actor: 'operator', actorId: userId, ip: null, subject: 'app_one', at: ctx.clock.now() }
  await addAudit(ctx, 'app.disabled', of)
  expect((await exported()).filter(({ event }) => event === 'app.disabled')).toMatchObject([
    { account: null, app_id: 'app_one', operator: expect.any(String) },
  ])
})

test('B91 a row that is committed after a later one is followed too, and each row is told once', async () => {
  const { userId } = await givenUser(ctx)
  const add = (afterMs: number) => {
    const at = new Date(since.getTime() + afterMs)
    return addAudit(ctx, 'password.renewed', { userId, actor: 'system', ip: null, at })
  }
  ctx.clock.advance(5 * second)
  const following = exportAudit(ctx, { since, follow: true })
  const next = async () => ((await following.next()).value ?? []) as AuditRecord[]
  expect((await next()).map(({ event }) => event)).toEqual(['user.created'])
  await add(3 * second)
  expect(await next()).toMatchObject([
    { event: 'password.renewed', at: new Date(since.getTime() + 3 * second).toISOString() },
  ])
  await add(1 * second)
  expect(await next()).toMatchObject([{ at: new Date(since.getTime() + second).toISOString() }])
  await following.return(undefined)
})

test('B91 an export remembers no row, and one that follows those alone beside which older rows may still be committed', async () => {
  const { userId } = await givenUser(ctx)
  await addAudit(ctx, 'password.renewed', { userId, actor: 'system', ip: null, at: ctx.clock.now() })
  ctx.clock.advance(11 * second)
  await addAudit(ctx, 'password.renewed', { userId, actor: 'system', ip: null, at: ctx.clock.now() })
  const ids = (await ctx.db.auditEvent.findMany({ orderBy: { at: 'asc' } })).map(({ id }) => id)
  const set = vi.spyOn(Map.prototype, 'set')
  const remembered = () => set.mock.calls.map(([key]) => key).filter((key) => ids.includes(key as string))
  try {
    expect(await exported()).toHaveLength(ids.length)
    expect(remembered()).toEqual([])
    const following = exportAudit(ctx, { since, follow: true })
    expect((await following.next()).value).toHaveLength(ids.length)
    await following.return(undefined)
    expect(remembered()).toEqual(ids.slice(-1))
  } finally {
    set.mockRestore()
  }
})

test('B91 a collector gets every row from its first run on, by one instance at a time, and again what it did not take', async () => {
  const { userId } = await givenUser(ctx)
  const sent: string[] = []
  let isAway = false
  ctx.auditCollector = async (records) => {
    if (isAway) throw new Error('away')
    sent.push(...records.map(({ event }) => event))
  }
  ctx.clock.advance(60 * second)
  await sendAudit(ctx)
  expect(sent).toEqual([])
  const row = { userId, actor: 'system', ip: null }
  await addAudit(ctx, 'password.renewed', { ...row, at: ctx.clock.now() })
  await sendAudit(ctx)
  expect(sent).toEqual([])
  ctx.clock.advance(10 * second)
  isAway = true
  await expect(sendAudit(ctx)).rejects.toThrow('away')
  isAway = false
  await Promise.all([sendAudit(ctx), sendAudit(ctx), sendAudit(ctx)])
  expect(sent).toEqual(['password.renewed'])
  await sendAudit(ctx)
  expect(sent).toHaveLength(1)
})

test('B91 an instance that took longer than its lease neither sets the place back nor ends the lease of another one', async () => {
  const { userId } = await givenUser(ctx)
  const row = { userId, actor: 'system', ip: null }
  ctx.clock.advance(60 * second)
  ctx.auditCollector = async () => {}
  await sendAudit(ctx)
  await addAudit(ctx, 'password.renewed', { ...row, at: ctx.clock.now() })
  ctx.clock.advance(11 * second)
  const [slow, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const [slowSends, otherSends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  ctx.auditCollector = () => {
    slowSends.resolve()
    return slow.promise
  }
  const slowRun = sendAudit(ctx)
  await slowSends.promise
  await addAudit(ctx, 'password.changed', { ...row, at: ctx.clock.now() })
  ctx.clock.advance(40 * second)
  ctx.auditCollector = () => {
    otherSends.resolve()
    return other.promise
  }
  const otherRun = sendAudit(ctx)
  await otherSends.promise
  const late: string[] = []
  ctx.auditCollector = async (records) => void late.push(...records.map(({ event }) => event))
  slow.resolve()
  await slowRun
  await sendAudit(ctx)
  expect(late).toEqual([])
  other.resolve()
  await otherRun
  await sendAudit(ctx)
  expect(late).toEqual([])
})

test('B91 an instance that sends many rows keeps its lease with each batch', async () => {
  const { userId } = await givenUser(ctx)
  ctx.clock.advance(60 * second)
  ctx.auditCollector = async () => {}
  await sendAudit(ctx)
  const row = { userId, action: 'password.renewed', actor: 'system', at: ctx.clock.now() }
  await ctx.db.auditEvent.createMany({
    data: Array.from({ length: 1001 }, (_, index) => ({ ...row, id: `aud_lease_${String(index).padStart(4, '0')}` })),
  })
  ctx.clock.advance(11 * second)
  const batches: number[] = []
  ctx.auditCollector = async (records) => {
    batches.push(records.length)
    ctx.clock.advance(20 * second)
    await sendAudit(ctx)
  }
  await sendAudit(ctx)
  expect(batches).toEqual([1000, 1])
})

test('docs/audit.md names every action with its member, and no other', () => {
  const rows = [...readFileSync('docs/audit.md', 'utf8').matchAll(/^\| `([a-z_.]+)` \| (?:`([a-z_]+)`)? ?\| \S/gm)]
  expect(Object.fromEntries(rows.map(([, action, member]) => [action, member ?? null]))).toEqual(AUDIT_ACTIONS)
})
