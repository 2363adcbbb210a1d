import { beforeEach, expect, test } from 'vitest'
import { hour, minute } from '@/domain/limits/durations'
import { givenPendingChange, signInAs, verifyChange, wrongCode } from '@/testing/account'
import { givenCaller, givenServiceOf } from '@/testing/callers'
import { asUser, givenSession, pass, passDays } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import { givenService, type Service } from '@/testing/service'
import { givenParticipant } from '@/testing/withdrawals'
import { resendEvents } from './applications/operate-deliveries'
import { noteIncident } from './security-incidents'
import { endAllSessions } from './sessions/sessions'
import { exportData } from './withdrawal/export-data'
import { previewWithdrawal } from './withdrawal/preview-withdrawal'

let ctx: Service
beforeEach(async () => {
  ctx = await givenService()
})
const incidentsOf = async (userId: string) => {
  await ctx.settle()
  return ctx.db.securityIncident.findMany({ where: { userId }, orderBy: { at: 'asc' } })
}
const kindsOf = async (userId: string) => (await incidentsOf(userId)).map(({ kind }) => kind)

test('a lock-out of the sign-in is a security incident of the account, once an hour and without an address', async () => {
  const { userId, email } = await givenCaller(ctx)
  const guess = (as: string) => outcomeOf(signInAs(ctx, { email: as, password: 'wrong' }, { ip: '192.0.2.7' }))
  for (let tries = 0; tries < 10; tries++) expect(await guess(email)).toBe('accepted')
  expect(await kindsOf(userId)).toEqual([])
  for (let tries = 0; tries < 3; tries++) {
    expect(await guess(email)).toBe('RATE_001')
    // Refusals at the same time may each leave a row.
    await ctx.settle()
  }
  const [incident, ...more] = await incidentsOf(userId)
  expect([incident?.kind, more]).toEqual(['sign_in_locked', []])
  for (const address of [email, '192.0.2.7']) expect(JSON.stringify(incident)).not.toContain(address)
  ctx.clock.advance(hour)
  for (let tries = 0; tries < 11; tries++) await guess(email)
  expect(await kindsOf(userId)).toEqual(['sign_in_locked', 'sign_in_locked'])
})

test('the last wrong attempt of a code is a security incident', async () => {
  const user = await givenCaller(ctx)
  const change = await givenPendingChange(ctx, user)
  for (let tries = 0; tries < 5; tries++) {
    expect(await kindsOf(user.userId)).toEqual([])
    expect(await outcomeOf(verifyChange(ctx, user, change, wrongCode(change.code)))).toBe('EMAIL_003')
  }
  expect(await kindsOf(user.userId)).toEqual(['code_locked'])
})

test('an end of all sessions by support is a security incident', async () => {
  const [user, other] = [await givenCaller(ctx), await givenCaller(ctx)]
  await endAllSessions(ctx, other.userId)
  expect(await kindsOf(other.userId)).toEqual(['sessions_ended'])
  const service = await givenServiceOf(ctx, user)
  expect((await service('endUserSessions')).code).toBe('accepted')
  expect(await kindsOf(user.userId)).toEqual(['sessions_ended'])
})

test('an account keeps its hundred latest security incidents, and a withdrawn one gets none', async () => {
  const { userId } = await givenCaller(ctx)
  for (let n = 0; n < 103; n++) {
    ctx.clock.advance(hour)
    await noteIncident(ctx, 'code_locked', { userId })
  }
  const kept = await incidentsOf(userId)
  expect([kept.length, kept.at(-1)?.at]).toEqual([100, ctx.clock.now()])
  await ctx.db.user.update({ where: { id: userId }, data: { withdrawnAt: ctx.clock.now() } })
  ctx.clock.advance(hour)
  await noteIncident(ctx, 'code_locked', { userId })
  expect(await incidentsOf(userId)).toEqual(kept)
})

test('what applications were told of an account is logged, counted before a deletion and in the export, for thirty days', async () => {
  const appId = await givenParticipant(ctx, 'shop', { events: ['account.password_changed', 'account.sessions_ended'] })
  const user = await givenCaller(ctx)
  const logged = async () => {
    await ctx.settle()
    const rows = await ctx.db.integrationLog.findMany({ where: { userId: user.userId } })
    return rows.map(({ appId, action, details }) => [appId, action, details])
  }
  ctx.apps.answer = async () => ({ status: 503 })
  await endAllSessions(ctx, user.userId)
  expect(await logged()).toEqual([])
  await passDays(ctx, 8)
  expect(await logged()).toEqual([[appId, 'account.sessions_ended', 'given_up']])
  ctx.apps.answer = async () => ({ status: 204 })
  await resendEvents(ctx, { appId, since: new Date(0) })
  await ctx.settle()
  expect(await logged()).toEqual([[appId, 'account.sessions_ended', 'delivered']])

  const sessionId = await givenSession(ctx, user.userId)
  const caller = await asUser(ctx, { ...user, sessionId })
  const { erased, retained } = await previewWithdrawal(caller, { userId: user.userId })
  expect(erased.find(({ category }) => category === 'integration_logs')).toMatchObject({ records: 1 })
  expect(retained.find(({ category }) => category === 'security_incidents')).toMatchObject({ records: 1 })
  const { documents } = await exportData(caller, { userId: user.userId })
  const texts: string[] = []
  for (const { name, read } of documents) {
    if (!/^(integration_logs|security_incidents)/.test(name)) continue
    for await (const piece of read()) texts.push(piece.toString())
  }
  expect(texts.join()).toContain('"state" : "delivered"')
  expect(texts.join()).toContain('Support ended every session.')
  await pass(ctx, 30 * 24 * hour + minute)
  expect(await logged()).toEqual([])
})
