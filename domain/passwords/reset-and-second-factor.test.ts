import { expect, test } from 'vitest'
import {
  asNobody,
  asUser,
  changeInput,
  givenUser,
  outcomeOf,
  resetTokenTo,
  type TestContext,
  testContext,
} from '@/testing/domain'
import { changeEmail } from '../email/change-email'
import { getEmailStatus } from '../email/get-email-status'
import { createAccessToken } from '../sessions/access-tokens'
import { endOtherSessions } from '../sessions/sessions'
import { exportData } from '../withdrawal/export-data'
import { withdrawAccount } from '../withdrawal/withdraw-account'
import { confirmPasswordReset } from './confirm-password-reset'
import { requestPasswordReset } from './request-password-reset'
import { signIn } from './sign-in'

const NEW = 'staple carries a lantern'

/** Whoever reads the mailbox sets a new password and signs in with it. */
async function afterReset(ctx: TestContext, externalId: string | null) {
  const user = await givenUser(ctx)
  await ctx.db.user.update({ where: { id: user.userId }, data: { externalId } })
  await requestPasswordReset(asNobody(ctx), { email: user.email })
  await ctx.settle()
  await confirmPasswordReset(asNobody(ctx, resetTokenTo(ctx, user.email)), { new_password: NEW })
  const signedIn = await signIn(ctx, {
    email: user.email,
    password: NEW,
    userAgent: 'test',
    ip: '192.0.2.1',
    device: 'd',
  })
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

const ALL = {
  read: 'accepted',
  export: 'accepted',
  token: 'accepted',
  sessions: 'accepted',
  change: 'accepted',
  withdraw: 'accepted',
}

test('B92 where the adopter asks for a second factor, a reset by mail opens what a password opens, and nothing that needs the factor', async () => {
  const ctx = await testContext()
  ctx.freshSignIn = { ...ctx.freshSignIn, requiredAcr: 'urn:acme:mfa' }
  const refused = { export: 'REAUTH_001', token: 'REAUTH_001', sessions: 'REAUTH_001', withdraw: 'REAUTH_001' }
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
  expect(ctx.mailbox.map(({ message }) => message.template)).toEqual(['no-password-to-reset'])
})
