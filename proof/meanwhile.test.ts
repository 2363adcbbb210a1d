import { expect, test } from 'vitest'
import { endOtherSessions, endSession } from '@/domain/access/sessions'
import { changeEmail } from '@/domain/email/change-email'
import {
  asUser,
  givenSession,
  givenUser,
  refusalOf,
  type TestContext,
  type TestUser,
  testContext,
} from '@/domain/testing'
import { setPassword } from '@/domain/user'

const pendingOf = (ctx: TestContext, { userId }: TestUser) =>
  ctx.db.emailChangeRequest.count({ where: { userId, status: 'pending_verification' } })

const changeOf = async (ctx: TestContext, user: TestUser, sql = ctx.sql) => {
  const input = { userId: user.userId, new_email: `new-${user.email}`, current_password: user.password }
  return changeEmail({ ...(await asUser(ctx, user)), sql }, input)
}

/** Does `meanwhile` while the message of a change is on its way; how the change ends. */
async function changeDuring(ctx: TestContext, user: TestUser, meanwhile: () => Promise<unknown>): Promise<string> {
  const { send } = ctx.mail
  Object.assign(ctx.mail, {
    send: async (mail: Parameters<typeof send>[0]) => {
      Object.assign(ctx.mail, { send })
      await meanwhile()
      return send(mail)
    },
  })
  return refusalOf(changeOf(ctx, user))
}

type Ending = () => Promise<unknown>

/** Everything is made ready first; what is returned only ends. */
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

test.each(ways)('B8: a change during which %s comes to an end opens nothing', async (_what, prepare) => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const end = await prepare(ctx, user)
  expect(await changeDuring(ctx, user, end)).toBe('EMAIL_007')
  expect(await pendingOf(ctx, user)).toBe(0)
})

test.each(ways.slice(0, 2))(
  'S54: a change that is opened while %s waits for the account is cancelled',
  async (_what, prepare) => {
    const ctx = await testContext()
    const user = await givenUser(ctx)
    const end = await prepare(ctx, user)
    let ending: Promise<unknown> | undefined
    await ctx.transaction(async (sql) => {
      await sql({ name: 'hold', text: 'SELECT FROM users WHERE id = $1 FOR UPDATE' }, [user.userId])
      ending = end()
      await expect
        .poll(
          () =>
            ctx.db
              .$queryRaw`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
        .toHaveLength(1)
      await changeOf(ctx, user, sql)
    })
    await ending
    expect(await pendingOf(ctx, user)).toBe(0)
  },
)
