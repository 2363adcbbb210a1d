import { describe, expect, test } from 'vitest'
import { setEmail } from '@/domain/accounts/set-email'
import { setPassword } from '@/domain/accounts/user'
import { connectApp } from '@/domain/applications/connect'
import { registerApp } from '@/domain/applications/manage'
import { addTransaction } from '@/domain/applications/transactions'
import type { Transacted } from '@/domain/context'
import { changeEmail } from '@/domain/email/change-email'
import { undoEmailChange } from '@/domain/email/undo-email-change'
import { verifyEmail } from '@/domain/email/verify-email'
import { issueAccessToken } from '@/domain/sessions/access-tokens'
import { endOtherSessions, endSession } from '@/domain/sessions/sessions'
import type { Sql } from '@/domain/sql'
import { withdrawAccount } from '@/domain/withdrawal/withdraw-account'
import { changeInput, givenPendingChange, verifyChange } from '@/testing/account'
import { call } from '@/testing/api-calls'
import { asUser, givenSession, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { linkTo, MINE, type NotMeLink } from '@/testing/not-me'
import { heldUp, outcomeOf } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { givenService, mailsTo, type Service } from '@/testing/service'

const pendingOf = (ctx: TestContext, { userId }: TestUser) =>
  ctx.db.emailChangeRequest.count({ where: { userId, status: 'pending_verification' } })

/** The context all of whose statements belong to this transaction. */
const insideOf = (ctx: TestContext, of: Transacted): TestContext => ({
  ...ctx,
  sql: of[0],
  transact: (work) => work(...of),
})

const changeOf = async (ctx: TestContext, user: TestUser) =>
  changeEmail(await asUser(ctx, user), changeInput(user, `new-${user.email}`))

/** Runs `meanwhile` while the message of a change is being sent, and returns the outcome of the change. */
async function changeDuring(ctx: TestContext, user: TestUser, meanwhile: () => Promise<unknown>): Promise<string> {
  const { send } = ctx.mail
  Object.assign(ctx.mail, {
    send: async (mail: Parameters<typeof send>[0]) => {
      Object.assign(ctx.mail, { send })
      await meanwhile()
      return send(mail)
    },
  })
  return outcomeOf(changeOf(ctx, user))
}

type Ending = () => Promise<unknown>

/** Each way prepares an ending, and returns the function that carries it out. */
const ways: [string, (ctx: TestContext, user: TestUser) => Promise<Ending>][] = [
  [
    'the password',
    async ({ ...ctx }, { userId }) =>
      () =>
        setPassword(ctx, { userId, password: 'another password' }),
  ],
  [
    'the session that asked, with all others,',
    async (ctx, user) => {
      const other = await asUser(ctx, { ...user, sessionId: await givenSession(ctx, user.userId) })
      return () => endOtherSessions(other)
    },
  ],
  [
    'the session that asked',
    async (ctx, user) => {
      const other = await asUser(ctx, { ...user, sessionId: await givenSession(ctx, user.userId) })
      return () => endSession(other, { userId: user.userId, sessionId: user.sessionId })
    },
  ],
]

test.each(ways)('B8 a change is refused when %s ends while its message is being sent', async (_what, prepare) => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const end = await prepare(ctx, user)
  expect(await changeDuring(ctx, user, end)).toBe('AUTH_001')
  expect(await pendingOf(ctx, user)).toBe(0)
})

test.each(ways.slice(0, 2))(
  'a change that is opened while the end of %s waits for the account is cancelled',
  async (_what, prepare) => {
    const ctx = await testContext()
    const user = await givenUser(ctx)
    await heldUp(ctx, ['users', user.userId], await prepare(ctx, user), (...of) => changeOf(insideOf(ctx, of), user))
    expect(await pendingOf(ctx, user)).toBe(0)
  },
)

test.each([
  ['is cancelled', `status = 'cancelled'`, 'EMAIL_006'],
  ['expires', `expires_at = requested_at`, 'EMAIL_004'],
  ['runs out of attempts', 'attempts = 5', 'EMAIL_005'],
])('B8 a code is refused when its request %s while the call waits for the account', async (_what, set, code) => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const pending = await givenPendingChange(ctx, user)
  const input = { userId: user.userId, change_request_id: pending.change_request_id, verification_code: pending.code }
  const caller = await asUser(ctx, user)
  const end = (sql: Sql) =>
    rawSql(sql, `UPDATE email_change_requests SET ${set} WHERE id = $1`, [pending.change_request_id])
  const verifying = () => outcomeOf(verifyEmail(caller, input))
  expect(await heldUp(ctx, ['users', user.userId], verifying, end)).toBe(code)
  expect((await ctx.db.user.findUniqueOrThrow({ where: { id: user.userId } })).email).toBe(user.email)
})

describe('a withdrawal that waits for the account', () => {
  /** All statements of `inside` belong to a transaction that holds the account. */
  async function withdrawDuring(meanwhile: (inside: TestContext, user: TestUser) => Promise<unknown>) {
    const ctx = await testContext()
    const user = await givenUser(ctx)
    const caller = await asUser(ctx, user)
    const input = { userId: user.userId, confirmation: 'DELETE_MY_ACCOUNT' as const }
    const withdrawing = () => outcomeOf(withdrawAccount(caller, input))
    const outcome = await heldUp(ctx, ['users', user.userId], withdrawing, (...of) =>
      meanwhile(insideOf(ctx, of), user),
    )
    await ctx.settle()
    return { ctx, user, outcome }
  }

  test('F28 a withdrawal is refused when a pending transaction is written while it waits for the account', async () => {
    const { outcome } = await withdrawDuring((inside, { userId }) => {
      const transaction = { userId, status: 'pending' as const, title: 'A book', ip: '' }
      return addTransaction(inside, transaction)
    })
    expect(outcome).toBe('WITHDRAWAL_003')
  })

  test('F28 a withdrawal cancels a change that is opened while it waits for the account', async () => {
    const { ctx, user, outcome } = await withdrawDuring((inside, user) => changeOf(inside, user))
    expect(outcome).toBe('accepted')
    expect(await pendingOf(ctx, user)).toBe(0)
  })

  test('F28 a withdrawal ends a session and a token that are made while it waits for the account', async () => {
    const { ctx, user, outcome } = await withdrawDuring(async (inside, { userId }) => {
      await givenSession(inside, userId)
      const token = { userId, name: 'late', scopes: ['email:manage' as const], expiresInMs: 60_000, actor: 'session' }
      await issueAccessToken(inside, token)
    })
    expect(outcome).toBe('accepted')
    expect(await ctx.db.endedCredential.count({ where: { userId: user.userId } })).toBe(3)
  })

  test('F28 a withdrawal calls an application that is connected while it waits for the account', async () => {
    const { ctx, user, outcome } = await withdrawDuring(async (inside, { userId }) => {
      const app = { name: 'Late', endpoint: 'https://late.example.test/', secret: 'whsec_bGF0ZQ==' }
      const { appId } = await registerApp(inside, app)
      await connectApp(inside, { userId, appId, subject: 'late' })
    })
    expect(outcome).toBe('accepted')
    expect(await ctx.db.deletionTask.count({ where: { withdrawal: { userId: user.userId } } })).toBe(1)
  })

  test('F28 a withdrawal sends its confirmation to the address that is set while it waits for the account', async () => {
    const newEmail = 'late@example.test'
    const { ctx, outcome } = await withdrawDuring(({ sql }, { userId }) =>
      rawSql(sql, 'UPDATE users SET email = $2, email_key = $2, version = version + 1 WHERE id = $1', [
        userId,
        newEmail,
      ]),
    )
    expect(outcome).toBe('accepted')
    expect(ctx.mailbox.map(({ to, message }) => [to, message.template])).toEqual([
      [newEmail, 'account-withdrawal-started'],
    ])
  })
})

/** Each way prepares what ends a mailed deletion link, and returns the function that ends it with this context. */
const endsOfLink: [string, (ctx: Service, user: TestUser) => Promise<(inside: TestContext) => Promise<unknown>>][] = [
  [
    'a new password is set',
    async (_ctx, { userId }) =>
      (inside) =>
        setPassword(inside, { userId, password: 'another password' }),
  ],
  [
    'a new address is verified',
    async (ctx, user) => {
      const pending = await givenPendingChange(ctx, user)
      return (inside) => verifyChange(inside, user, pending)
    },
  ],
  [
    'the operator sets another address',
    async (_ctx, { userId, email }) =>
      (inside) =>
        setEmail(inside, { userId, email: `set-${email}` }),
  ],
  [
    'a change is stopped',
    async (ctx, user) => {
      await givenPendingChange(ctx, user)
      return (inside) => undo(inside, linkTo(ctx, user.email))
    },
  ],
  [
    'a change is verified and undone',
    async (ctx, user) => {
      const pending = await givenPendingChange(ctx, user)
      return async (inside) => {
        await verifyChange(inside, user, pending)
        await undo(inside, linkTo(ctx, user.email))
      }
    },
  ],
]

const undo = (inside: TestContext, { id, token }: NotMeLink) =>
  undoEmailChange(
    { ...inside, ip: '', userAgent: '', buckets: [], linkToken: token },
    { changeRequestId: id, new_password: MINE },
  )

test.each(endsOfLink)(
  'B68 a mailed deletion link deletes nothing when %s while it waits for the account',
  async (_what, prepare) => {
    const ctx = await givenService()
    const user = await givenUser(ctx)
    await call({ userId: '' }, 'requestWithdrawal', { body: { email: user.email }, ip: user.userId })
    await ctx.settle()
    const [letter] = mailsTo(ctx, user.email, 'withdrawal-requested')
    const token =
      letter?.message.template === 'withdrawal-requested' ? letter.message.link.split('#token=')[1] : undefined
    const confirming = () =>
      call({ userId: '', token: token ?? '' }, 'confirmRequestedWithdrawal', {
        body: { confirmation: 'DELETE_MY_ACCOUNT' },
      })
    const end = await prepare(ctx, user)
    const { code } = await heldUp(ctx, ['users', user.userId], confirming, (sql) =>
      // The answer of an ending waits for its letters, which would wait for the commit.
      end(insideOf(ctx, [sql, (effect) => effect()])),
    )
    expect(code).toBe('WITHDRAWAL_006')
    expect(await ctx.db.withdrawal.count({ where: { userId: user.userId } })).toBe(0)
  },
)
