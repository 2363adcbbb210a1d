import { expect, test } from 'vitest'
import { changeInput, resetPassword, signInAs, templatesTo } from '@/testing/account'
import { asNobody, asUser, givenUser, type TestContext, testContext } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import { changeEmail } from '../email/change-email'
import { getEmailStatus } from '../email/get-email-status'
import { createAccessToken } from '../sessions/access-tokens'
import { endOtherSessions } from '../sessions/sessions'
import { exportData } from '../withdrawal/export-data'
import { withdrawAccount } from '../withdrawal/withdraw-account'
import { requestPasswordReset } from './request-password-reset'

const NEW = 'staple carries a lantern'

/** Whoever reads the mailbox sets a new password and signs in with it. */
async function afterReset(ctx: TestContext, externalId: string | null) {
  const user = await givenUser(ctx)
  await ctx.db.user.update({ where: { id: user.userId }, data: { externalId } })
  await resetPassword(ctx, user, NEW)
  const signedIn = await signInAs(ctx, { ...user, password: NEW })
  const caller = await asUser(ctx, { ...user, sessionId: signedIn?.sessionId ?? '' })
  const { userId, email } = user
  const calls: Record<string, () => Promise<unknown>> = {
    read: () => getEmailStatus(caller),
    export: () => exportData(caller, { userId }),
    token: () => createAccessToken(caller, { userId, name: 'x', scopes: ['email:manage'], expires_in_days: 1 }),
    sessions: () => endOtherSessions(caller),
    change: () => changeEmail(caller, changeInput(user, `new-${email}`, NEW)),
    withdraw: () => withdrawAccount(caller, { userId, confirmation: 'DELETE_MY_ACCOUNT' }),
  }
  const outcomes: Record<string, string> = {}
  for (const [name, call] of Object.entries(calls)) outcomes[name] = await outcomeOf(call())
  return outcomes
}

const CALLS = ['read', 'export', 'token', 'sessions', 'change', 'withdraw']
const outcomesOf = (outcome: string, calls = CALLS) => Object.fromEntries(calls.map((call) => [call, outcome]))
const ALL = outcomesOf('accepted')

test('B92 where the adopter asks for a second factor, a reset by mail opens what a password opens, and nothing that needs the factor', async () => {
  const ctx = await testContext()
  ctx.freshSignIn = { ...ctx.freshSignIn, requiredAcr: 'urn:acme:mfa' }
  const refused = outcomesOf('REAUTH_001', ['export', 'token', 'sessions', 'withdraw'])
  expect(await afterReset(ctx, 'customer-1')).toEqual({ ...ALL, ...refused })
})

test('B92 without a second factor, or for an account that the provider does not know, a reset is a full sign-in', async () => {
  expect(await afterReset(await testContext(), 'customer-2')).toEqual(ALL)
  const ctx = await testContext()
  ctx.freshSignIn = { ...ctx.freshSignIn, requiredAcr: 'urn:acme:mfa' }
  expect(await afterReset(ctx, null)).toEqual(ALL)
})

test('B92 an account without a password gets no link that would give it one', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  await ctx.db.user.update({ where: { id: user.userId }, data: { externalId: 'customer-3', passwordHash: null } })
  await requestPasswordReset(asNobody(ctx), { email: user.email })
  await ctx.settle()
  expect(templatesTo(ctx, user.email)).toEqual(['no-password-to-reset'])
})
