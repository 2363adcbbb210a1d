import { beforeEach, expect, test, vi } from 'vitest'
import { callWith } from '@/components/api/api-client'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { api } from '@/server/http/api'
import { call, hour } from '@/testing/api-calls'
import { givenUser, type TestContext, type TestUser } from '@/testing/domain'
import { installed } from '@/testing/install-context'
import { currentSession, openPage } from './session'

const { signedIn } = vi.hoisted(() => ({ signedIn: { sessionId: '' } }))
vi.mock('next-auth', () => ({ getServerSession: async () => signedIn }))

let ctx: TestContext
let user: TestUser
let token: string

beforeEach(async () => {
  ctx = await installed()
  user = await givenUser(ctx)
  signedIn.sessionId = user.sessionId
  ctx.clock.advance(2 * hour)
  token = createSessionToken(ctx, user.sessionId).token
})

async function isUsed(work: () => Promise<unknown>): Promise<boolean> {
  await work()
  await ctx.settle()
  const { lastSeenAt } = await ctx.db.session.findUniqueOrThrow({ where: { id: user.sessionId } })
  return lastSeenAt.getTime() === ctx.clock.now().getTime()
}

/** The page's own client, whose calls arrive here. */
async function byPage(work: () => Promise<unknown>) {
  vi.stubGlobal('fetch', (path: string, init: RequestInit) =>
    api(new Request(`http://localhost${path}`, init), '192.0.2.1'),
  )
  await work().finally(() => vi.unstubAllGlobals())
}

test('F74 what an open page reads by itself is no use of its session, and what its person does there is one', async () => {
  const { userId } = user
  const reads = () => byPage(() => callWith(() => token, 'getEmailStatus', { userId }))
  expect(await isUsed(reads)).toBe(false)
  const body = { new_email: `new-${user.email}`, current_password: user.password }
  expect(await isUsed(() => byPage(() => callWith(() => token, 'changeEmail', { userId }, body)))).toBe(true)
})

test('F74 a call of a user’s endpoint that no open page makes by itself is a use of the session', async () => {
  expect(await isUsed(() => call({ ...user, token }, 'getEmailStatus'))).toBe(true)
})

test('F74 opening a page of the settings is a use of the session, and a page that only looks who is signed in is none', async () => {
  expect(await isUsed(currentSession)).toBe(false)
  expect(await isUsed(openPage)).toBe(true)
})
