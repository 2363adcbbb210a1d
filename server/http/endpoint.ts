import {
  type AdminContract,
  type Contract,
  type Data,
  type Input,
  isAccountLinkContract,
  isAdminContract,
  isLinkContract,
  isTaskContract,
  type LinkContract,
  READ_BY_PAGE,
  type UserContract,
} from '@/contract/define'
import { ANOTHER_USER, AppError } from '@/contract/errors'
import { isOperator } from '@/domain/accounts/operators'
import { authenticateReport } from '@/domain/applications/task-token'
import type { Actor, Context, LinkContext, SystemContext } from '@/domain/context'
import type { Download } from '@/domain/download'
import { readCredential } from '@/domain/sessions/authenticate'
import { findCaller } from '@/domain/sessions/caller'
import { requireFreshSignIn } from '@/domain/sessions/fresh-sign-in'
import { noteSessionUse } from '@/domain/sessions/sessions'
import { authenticateLink } from '@/domain/withdrawal/authenticate-link'
import { authenticateWithdrawn } from '@/domain/withdrawal/authenticate-withdrawn'
import { systemContext } from '../system-context'
import { inRequest } from '../watch/log'
import { bearerOf, isBearerSent } from './bearer'
import { ignoreBody, readJson, readRaw } from './bodies'
import { Exchange, type Params } from './exchange'
import { answerOnce } from './idempotency-key'
import { acceptInput, parseInput } from './input'
import { userAgentOf } from './user-agent'

type Result<C extends Contract> = C extends { file: string } ? Download : Data<C>
export type Verb<C extends Contract> = (
  ctx: C extends LinkContract ? LinkContext : Context,
  input: Input<C>,
) => Promise<Result<C>>
type AnyVerb<Ctx> = (ctx: Ctx, input: unknown) => Promise<object>

export interface Endpoint<C extends Contract = Contract> {
  contract: C
  handle(request: Request, params: Params, ip: string): Promise<Response>
}

/**
 * Makes a request handler from a contract and its verb. The handler checks in this order: media type, size and syntax of the body; the
 * bearer token; scope and path; the fields of the body; the limits that the verb does not count itself.
 */
export const endpoint = <const C extends Contract>(contract: C, verb: Verb<C>): Endpoint<C> => ({
  contract,
  handle(request, params, ip) {
    const exchange = new Exchange(request, contract)
    return inRequest(exchange.requestId, () =>
      isLinkContract(contract) && !isAccountLinkContract(contract)
        ? serveLink(exchange, contract, verb as unknown as AnyVerb<LinkContext>, params, ip)
        : serve(exchange, contract, verb as unknown as AnyVerb<Context>, params, ip),
    )
  },
})

async function serveLink(
  exchange: Exchange,
  contract: LinkContract,
  verb: AnyVerb<LinkContext>,
  params: Params,
  ip: string,
): Promise<Response> {
  try {
    const { request, buckets, clientGone } = exchange
    const { rawBody } = contract
    const raw = rawBody && { headers: request.headers, body: await readRaw(request, rawBody) }
    const { value } = contract.body ? await readJson(request) : raw ? { value: {} } : ignoreBody(request)
    if (contract.bearer !== 'none' && !isBearerSent(request)) throw new AppError('AUTH_001', LINK_TOKEN_MISSING)
    const ctx = {
      ...systemContext(),
      ip,
      userAgent: userAgentOf(request.headers),
      buckets,
      clientGone,
      linkToken: bearerOf(request) ?? '',
    }
    const input = { ...parseInput(contract, params, { body: value, url: request.url }), ...raw }
    return exchange.succeed(await verb(ctx, input), params)
  } catch (error) {
    return exchange.fail(error)
  }
}

const LINK_TOKEN_MISSING = 'Send Authorization: Bearer with the token of the mailed link.'

/** What a caller has to send where no access token opens the path. */
function missingToken(contract: Exclude<Contract, LinkContract>): string | undefined {
  if (isAccountLinkContract(contract)) return LINK_TOKEN_MISSING
  if (isTaskContract(contract)) return 'Send Authorization: Bearer with the report_token of the task.'
  if (isAdminContract(contract)) return 'Send Authorization: Bearer with a valid service token.'
  return contract.path.startsWith('/withdrawals/')
    ? 'Send Authorization: Bearer with the status_token of the withdrawal.'
    : undefined
}

async function serve(
  exchange: Exchange,
  contract: Exclude<Contract, LinkContract>,
  verb: AnyVerb<Context>,
  params: Params,
  ip: string,
): Promise<Response> {
  try {
    const { request } = exchange
    const { text, value } = contract.body ? await readJson(request, contract.maxBodyBytes) : ignoreBody(request)
    const ctx = await admit(exchange, contract, params, ip)
    // A path may call its user by the external id; from here on it is the user's id.
    const path = ctx.actor.userId ? { ...params, userId: ctx.actor.userId } : params
    const run = async () => {
      // A link that was used is refused as every other that does not work, whatever was sent with it.
      if (isAccountLinkContract(contract) && ctx.actor.withdrawal) throw new AppError('WITHDRAWAL_006')
      const input = await acceptInput(ctx, contract, path, { body: value, url: request.url })
      // Somebody else may have found the operator's browser signed in.
      if (isAdminContract(contract) && contract.operator === 'fresh') requireFreshSignIn(ctx, 'operate')
      const result = await verb(ctx, input)
      return contract.file ? exchange.sendFile(contract.file, result as Download) : exchange.succeed(result, path)
    }
    // A file is streamed, so it is not kept for a repetition.
    const key = contract.method === 'POST' && !contract.file ? request.headers.get('Idempotency-Key') : null
    return key === null ? await run() : await answerOnce(exchange, ctx, { key, body: text, params: path }, run)
  } catch (error) {
    return exchange.fail(error)
  }
}

/** Finds the caller and checks that they may make this call on this path; refuses anybody else. */
async function admit(
  exchange: Exchange,
  contract: Exclude<Contract, LinkContract>,
  params: Params,
  ip: string,
): Promise<Context> {
  const { request, buckets, setCookie, clientGone } = exchange
  const system = systemContext()
  const actor = await findActor(system, request, contract, params)
  if (!actor) throw new AppError('AUTH_001', missingToken(contract))
  exchange.actor = actor
  if (!isTaskContract(contract) && !isAccountLinkContract(contract)) {
    const missing = missingOf(exchange, actor, contract, params, await isOperatorAt(system, actor, contract))
    if (missing) throw new AppError(contract.forbidden, missing)
  }
  // A page that stays open reads on, also if nobody sits in front of it.
  if (!request.headers.has(READ_BY_PAGE)) noteSessionUse(system, actor)
  return { ...system, actor, ip, userAgent: userAgentOf(request.headers), buckets, setCookie, clientGone }
}

/** Whom the credential names: the task of a report, the account of a mailed link, or a caller. */
async function findActor(
  system: SystemContext,
  request: Request,
  contract: Exclude<Contract, LinkContract>,
  params: Params,
): Promise<Actor | null> {
  const { headers } = request
  const token = bearerOf(request)
  if (isTaskContract(contract) || isAccountLinkContract(contract)) {
    if (!isBearerSent(request)) return null
    if (isTaskContract(contract)) return authenticateReport(system, token ?? '', params.taskId ?? '')
    // Only a repeated call with its key may read the answer of a link that was used.
    const isRepeatable = contract.withdrawn === 'refused' && headers.has('Idempotency-Key')
    return authenticateLink(system, token ?? '', isRepeatable)
  }
  if (!token) return null
  const origin = headers.get('Origin')
  const credential = await readCredential(system, token, origin)
  const caller = credential && (await findCaller(system, credential))
  if (caller || !contract.withdrawn) return caller
  return authenticateWithdrawn(system, { token, origin }, params, contract.withdrawn)
}

/** Whether a page of /admin makes the call for an operator who is signed in. */
const isOperatorAt = async (system: SystemContext, { kind, userId }: Actor, contract: UserContract | AdminContract) =>
  isAdminContract(contract) && contract.operator && kind === 'session' ? isOperator(system, userId) : false

/** What the caller lacks for the operation. A scope counts only if the token has it and the header names it. */
function missingOf(
  { request }: Exchange,
  actor: Actor,
  contract: UserContract | AdminContract,
  params: Params,
  isOperatorSignedIn: boolean,
): string | undefined {
  const { scope } = contract
  if (request.headers.get('X-Required-Scope') !== scope)
    return `Send the header X-Required-Scope: ${scope} exactly once.`
  if (isOperatorSignedIn) return undefined
  if (isAdminContract(contract) !== (actor.kind === 'service_token')) {
    return isAdminContract(contract)
      ? 'This path opens with a service token only.'
      : 'A service token opens only the paths that begin with /api/v1/admin.'
  }
  if (!actor.scopes.includes(scope)) {
    return scope === 'tokens:manage'
      ? 'Only a browser session holds the scope tokens:manage; no access token can.'
      : `The token does not hold the scope ${scope}.`
  }
  if (isAdminContract(contract) || isOwnPath(actor, contract, params)) return undefined
  return contract.path.startsWith('/withdrawals/')
    ? 'This path opens with the status token of its withdrawal only.'
    : ANOTHER_USER
}

/** A status token opens the paths of its withdrawal; a user's other credentials open the paths of that user. */
function isOwnPath(actor: Actor, contract: UserContract, { userId, withdrawalId }: Params): boolean {
  if (contract.path.startsWith('/withdrawals/')) {
    return actor.kind === 'status_token' && actor.withdrawal?.id === withdrawalId
  }
  return actor.userId === userId || (actor.externalId !== null && userId === `~${actor.externalId}`)
}
