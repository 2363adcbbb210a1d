import { expect, test } from 'vitest'
import { maskAddress } from '@/contract/address'
import { givenPendingChange, verifyChange } from '@/testing/account'
import { asNobody, givenUser, pass, type TestContext, testContext } from '@/testing/domain'
import { heldUp, outcomeOf } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { registerApp } from '../applications/manage'
import { day, minute } from '../limits/durations'
import { whySessionEnded } from '../sessions/why-ended'
import { getNotMe } from './get-not-me'
import { createNotMeToken } from './not-me-token'
import { undoEmailChange } from './undo-email-change'

const IP = '198.51.100.7'

/** An application that gets the event of an undo with addresses, and what it was told. */
async function givenListener(ctx: TestContext) {
  const received: Record<string, unknown>[] = []
  await ctx.db.connectedApp.deleteMany()
  ctx.apps.answer = async ({ endpoint, body }) => {
    if (endpoint === 'https://undo.test/hook') received.push(JSON.parse(body).data)
    return { status: 204 }
  }
  const app = { name: 'undo', endpoint: 'https://undo.test/hook', secret: 'whsec_c2VjcmV0' }
  const { appId } = await registerApp(ctx, { ...app, events: ['account.email_reverted'] })
  await ctx.db.connectedApp.update({ where: { id: appId }, data: { audience: 'everyone', includes: ['addresses'] } })
  return received
}

/** A change of this account, a minute after the account; `verified` a minute later. */
async function givenChange(ctx: TestContext, { verified }: { verified: boolean }) {
  const user = await givenUser(ctx)
  ctx.clock.advance(minute)
  const change = await givenPendingChange(ctx, user)
  const { change_request_id: id } = change
  ctx.clock.advance(minute)
  if (verified) await verifyChange(ctx, user, change)
  await ctx.settle()
  const press = asNobody(ctx, createNotMeToken(ctx, id), IP)
  return { user, id, press, old: user.email, to: `new-${user.email}` }
}

test.each([
  { verified: true, outcome: 'restored', action: 'email.reverted' },
  { verified: false, outcome: 'stopped', action: 'email_change.cancelled' },
])(
  'B121 an undo tells both mailboxes, applications, the audit and the incidents that a change was $outcome',
  async (row) => {
    const ctx = await testContext()
    const received = await givenListener(ctx)
    const { user, id, press, old, to } = await givenChange(ctx, row)
    // The first try does not arrive, so that each letter is also made from what was stored.
    const tries: object[] = []
    ctx.mail.send = async ({ to: mailbox, message }) => {
      tries.push({ mailbox, ...message })
      return tries.length > 2 ? 'accepted' : 'deferred'
    }
    const at = ctx.clock.now()
    await undoEmailChange(press, { changeRequestId: id, new_password: 'mine alone now' })
    await ctx.settle()
    await pass(ctx, 5 * minute)
    const { outcome, verified } = row
    const newEmail = verified ? to : maskAddress(to)
    const facts = { template: 'email-reverted', hasPassword: true, revertedAt: at, outcome, newEmail }
    const letters = [
      {
        ...facts,
        mailbox: old,
        to: 'old',
        userName: 'Ada Lovelace',
        email: old,
        ipAddress: IP,
        userAgent: 'test',
        heldUntil: verified ? new Date(at.getTime() + ctx.limits.undoWindowMs) : null,
      },
      // Its reader does not learn where the owner is.
      { ...facts, mailbox: to, to: 'new', userName: '', email: to, ipAddress: '', userAgent: '', heldUntil: null },
    ]
    expect(tries).toHaveLength(4)
    expect(tries).toEqual(expect.arrayContaining(letters))
    expect(tries.slice(2)).toEqual(expect.arrayContaining(letters))
    expect(received).toMatchObject([{ change_request_id: id, ...(verified && { old_email: to, new_email: old }) }])
    expect('old_email' in (received[0] ?? {})).toBe(verified)
    const audited = await ctx.db.auditEvent.findMany({ where: { userId: user.userId, actor: 'mailed_link' } })
    expect(audited).toMatchObject([{ action: row.action, subjectId: id, ip: IP, at }])
    expect(await ctx.db.securityIncident.findMany({ where: { userId: user.userId } })).toMatchObject([
      { kind: 'change_undone' },
    ])
  },
)

test('B134 a browser whose session an undo ended learns that a change was undone, and of a change that was stopped that the password is new', async () => {
  const ctx = await testContext()
  for (const verified of [true, false]) {
    const { user, id, press } = await givenChange(ctx, { verified })
    await undoEmailChange(press, { changeRequestId: id, new_password: 'mine alone now' })
    expect(await whySessionEnded(ctx, user.sessionId)).toBe(verified ? 'change_undone' : 'password_changed')
  }
})

test('a letter about an undo names the end of the hold, unless it arrives after it', async () => {
  const ctx = await testContext()
  ctx.limits.undoWindowMs = 4 * minute
  const { id, press } = await givenChange(ctx, { verified: true })
  const ends: unknown[] = []
  ctx.mail.send = async ({ message }) => {
    if ('heldUntil' in message && 'to' in message && message.to === 'old') ends.push(message.heldUntil)
    return ends.length > 1 ? 'accepted' : 'deferred'
  }
  const until = new Date(ctx.clock.now().getTime() + 4 * minute)
  await undoEmailChange(press, { changeRequestId: id, new_password: 'mine alone now' })
  await ctx.settle()
  await pass(ctx, 5 * minute)
  expect(ends).toEqual([until, null])
})

test('B122 the page of the link names the new address in full once the message about the change did, and tells when, from where and how long the link works', async () => {
  const ctx = await testContext()
  for (const verified of [true, false]) {
    const { id, press, old, to } = await givenChange(ctx, { verified })
    const change = await ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id } })
    await ctx.db.emailChangeRequest.update({
      where: { id },
      data: { requestIp: '192.0.2.77', ...(verified && { closedIp: IP }) },
    })
    const from = verified ? Number(change.closedAt) : Number(change.requestedAt)
    expect(await getNotMe(press, { changeRequestId: id })).toMatchObject({
      status: verified ? 'verified' : 'pending_verification',
      old_email: old,
      new_email: maskAddress(to),
      changed_to: verified ? to : null,
      requested_at: change.requestedAt.toISOString(),
      changed_at: change.closedAt?.toISOString() ?? null,
      ip_address: verified ? IP : '192.0.2.77',
      works_until: new Date(from + 7 * day).toISOString(),
      can_be_verified: !verified,
    })
    // Five wrong codes end a change as time does: there is nothing left to stop.
    await ctx.db.emailChangeRequest.update({ where: { id }, data: { attempts: 5 } })
    expect(await getNotMe(press, { changeRequestId: id })).toMatchObject({ can_be_verified: false })
  }
})

test('a password that is set while the undo waits for the account is not lost, and the change stays', async () => {
  const ctx = await testContext()
  const { user, id, press, to } = await givenChange(ctx, { verified: true })
  const account = { where: { id: user.userId } }
  await ctx.db.user.update({ ...account, data: { passwordHash: null } })
  const pressed = heldUp(
    ctx,
    ['users', user.userId],
    () => undoEmailChange(press, { changeRequestId: id }),
    (sql) => rawSql(sql, 'UPDATE users SET password_hash = $2 WHERE id = $1', [user.userId, 'a new hash']),
  )
  expect(await outcomeOf(pressed)).toBe('PASSWORD_001')
  expect(await ctx.db.user.findUnique(account)).toMatchObject({ passwordHash: 'a new hash', email: to })
})
