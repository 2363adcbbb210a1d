import { type GrantableScope, SERVICE_SCOPES, type ServiceScope } from '@/contract/define'
import { issueAccessToken } from '@/domain/sessions/access-tokens'
import { issueServiceToken } from '@/domain/sessions/service-tokens'
import { codeSentTo } from './account'
import { type Caller, call, change, day } from './api-calls'
import { givenSession, givenUser, PAGE_ORIGIN, type TestContext, type TestUser } from './domain'

// Who calls the API: a person, a service or a page, each with its token.

export async function givenToken(
  ctx: TestContext,
  userId: string,
  scopes: GrantableScope[] = ['email:manage', 'account:manage'],
  expiresInMs = 300 * day,
) {
  const token = { userId, name: 'test', scopes, expiresInMs, actor: 'operator' }
  const { id, accessToken } = await issueAccessToken(ctx, token)
  return { id, token: accessToken }
}

/** Without the scope that an application alone has. */
const SCOPES_OF_ALL = (Object.keys(SERVICE_SCOPES) as ServiceScope[]).filter((scope) => scope !== 'tasks:work')

/** A token of one of the adopter's services. */
export async function givenServiceToken(
  ctx: TestContext,
  scopes: ServiceScope[] = SCOPES_OF_ALL,
  expiresInMs = 300 * day,
  of: { name?: string; hosts?: string[]; appId?: string } = {},
) {
  const { id, serviceToken } = await issueServiceToken(ctx, { name: 'test', hosts: [], ...of, scopes, expiresInMs })
  return { id, userId: '', token: serviceToken }
}

/** The calls of the adopter's service about this account, which gets an external id. */
export async function givenServiceOf(ctx: TestContext, { userId }: Pick<TestUser, 'userId'>) {
  const token = await givenServiceToken(ctx)
  const externalId = `ext-${userId}`
  await ctx.db.user.update({ where: { id: userId }, data: { externalId } })
  return (operation: string, body?: object) => call(token, operation, { ids: { externalId }, body })
}

/** How a page of the adopter calls the API for this person. */
export async function givenPage(
  ctx: TestContext,
  { userId }: Pick<TestUser, 'userId'>,
  wanted: Record<string, unknown> = {},
): Promise<{ token: string; headers: Record<string, string> }> {
  const service = await givenServiceOf(ctx, { userId })
  const body = { scopes: ['email:manage', 'account:manage'], origin: PAGE_ORIGIN, ...wanted }
  const { data, code } = await service('issuePageToken', body)
  if (code !== 'accepted') throw new Error(`the page token was refused with ${code}`)
  return { token: String(data.page_token), headers: { Origin: PAGE_ORIGIN } }
}

export async function givenCaller(ctx: TestContext, email?: string): Promise<Caller> {
  const user = await givenUser(ctx, email)
  return { ...user, ...(await givenToken(ctx, user.userId)) }
}

/** An account that came in another way, as a caller with a session and a token. */
export async function callerOf(
  ctx: TestContext,
  { userId, email }: Pick<TestUser, 'userId' | 'email'>,
  password = '',
): Promise<Caller> {
  const sessionId = await givenSession(ctx, userId)
  return { userId, email, password, sessionId, ...(await givenToken(ctx, userId)) }
}

/** A change that awaits verification, and the code that was mailed for it. */
export async function givenChange(ctx: TestContext, caller: Caller, newEmail = `new-${caller.email}`) {
  const { data, code } = await change(caller, newEmail)
  if (code !== 'accepted') throw new Error(`the change was refused with ${code}`)
  await ctx.settle()
  return { id: String(data.change_request_id), code: codeSentTo(ctx, newEmail), newEmail }
}
