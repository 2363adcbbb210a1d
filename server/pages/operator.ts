import { cache } from 'react'
import { AppError, ERRORS } from '@/contract/errors'
import { WAIVE_REASONS } from '@/contract/vocabulary'
import { noteLookUp } from '@/domain/accounts/note-look-up'
import { isOperator } from '@/domain/accounts/operators'
import { lookUp } from '@/domain/accounts/watch-account'
import { type Manager, ping, rotateSecret, setApp } from '@/domain/applications/manage'
import { resendEvents } from '@/domain/applications/operate-deliveries'
import { retryTask, waive } from '@/domain/applications/operate-tasks'
import type { Context } from '@/domain/context'
import { requireFreshSignIn } from '@/domain/sessions/fresh-sign-in'
import { retryWithdrawal } from '@/domain/withdrawal/operate-withdrawal'
import { answer } from '../http/answer'
import { clientIpOf } from '../http/client-ip'
import { log } from '../watch/log'
import { isSameOrigin } from './same-origin'
import { pageContext } from './session'

/** Whether the signed-in person is an operator. Cached for each page. */
export const isOperatorHere = cache(async (): Promise<boolean> => {
  const ctx = await pageContext()
  if (!ctx) return false
  const { userId } = ctx.actor
  const admitted = await isOperator(ctx, userId)
  if (!admitted) log().warn({ event: 'authorization_refused', area: 'admin', userId })
  return admitted
})

/**
 * A button of /admin. Only the cookie authenticates it, so the request must come from a page of this service. All but a look needs a
 * sign-in of the last minutes, because somebody else may have found the browser signed in.
 */
async function asOperator(
  request: Request,
  press: (ctx: Context, userId: string) => Promise<object>,
  { isLook = false } = {},
): Promise<Response> {
  const ctx = await pageContext()
  if (!ctx) return answer(401, { error: 'Sign in again.' })
  if (!(await isOperatorHere())) return answer(404, { error: 'Not found.' })
  const { userId } = ctx.actor
  if (!isSameOrigin(request)) {
    log().warn({ event: 'cross_site_refused', area: 'admin', userId })
    return answer(403, { error: 'Only from the page itself.' })
  }
  try {
    if (!isLook) requireFreshSignIn(ctx, 'operate')
    return answer(200, await press(ctx, userId))
  } catch (error) {
    if (error instanceof AppError && error.code === 'REAUTH_001')
      return answer(401, { error: error.details, again: true })
    if (error instanceof AppError) return answer(ERRORS[error.code].status, { error: error.details })
    throw error
  }
}

type Place<Id extends string> = { params: Promise<Record<Id, string>> }

export async function retryAsOperator(request: Request, { params }: Place<'withdrawalId'>): Promise<Response> {
  const { withdrawalId } = await params
  return asOperator(request, async (ctx, userId) => {
    const steps = await retryWithdrawal(ctx, withdrawalId, userId)
    log().info({ event: 'withdrawal_retried', withdrawalId, userId, steps })
    return { retried_steps: steps }
  })
}

export async function retryTaskAsOperator(request: Request, { params }: Place<'taskId'>): Promise<Response> {
  const { taskId } = await params
  return asOperator(request, async (ctx, userId) => {
    await retryTask(ctx, taskId, userId)
    log().info({ event: 'task_retried', taskId, userId })
    return { task_id: taskId }
  })
}

/** The reason is in the query. */
export async function waiveTaskAsOperator(request: Request, { params }: Place<'taskId'>): Promise<Response> {
  const { taskId } = await params
  return asOperator(request, async (ctx, userId) => {
    const reason = WAIVE_REASONS.find((reason) => reason === new URL(request.url).searchParams.get('reason'))
    if (!reason) throw new AppError('REQUEST_001', `reason must be one of ${WAIVE_REASONS.join(', ')}.`)
    const waived = await waive(ctx, { taskId, reason }, { kind: 'operator', id: userId })
    log().info({ event: 'task_waived', taskId, userId, reason })
    return waived
  })
}

const MAX_LOOKED_UP = 320
const PAGES = { withdrawal: '/admin/withdrawals', user: '/admin/users' } as const

/** The text is in the body, because a URL must not contain an address. */
export async function lookUpAsOperator(request: Request): Promise<Response> {
  return asOperator(
    request,
    async (ctx, userId) => {
      const { text } = await request.json().catch(() => ({}))
      if (typeof text !== 'string' || text.length > MAX_LOOKED_UP) throw new AppError('REQUEST_001')
      const found = await lookUp(ctx, text.trim())
      log().info({ event: 'operator_looked_up', found: found?.id ?? null, userId })
      if (!found) throw new AppError('REQUEST_005', 'No withdrawal and no account has this id or address.')
      if (found.kind === 'user') {
        const ip = clientIpOf(request.headers)
        await noteLookUp(ctx, { userId: found.id, actor: 'operator', actorId: userId, ip })
      }
      return { path: `${PAGES[found.kind]}/${encodeURIComponent(found.id)}` }
    },
    { isLook: true },
  )
}

/** What an operator can do with an application at its page. */
const APP_ACTIONS: Record<string, (ctx: Context, appId: string, by: Manager) => Promise<object>> = {
  ping,
  'rotate-secret': rotateSecret,
  disable: (ctx, appId, by) => setApp(ctx, { appId, disabled: true }, by),
  enable: (ctx, appId, by) => setApp(ctx, { appId, disabled: false }, by),
  resend: async (ctx, appId, { id }) => ({ resent: await resendEvents(ctx, { appId }, id) }),
}

export async function manageAsOperator(request: Request, { params }: Place<'appId' | 'action'>): Promise<Response> {
  const { appId, action } = await params
  return asOperator(request, async (ctx, userId) => {
    const act = Object.hasOwn(APP_ACTIONS, action) ? APP_ACTIONS[action] : undefined
    if (!act) throw new AppError('REQUEST_005')
    const done = await act(ctx, appId, { kind: 'operator', id: userId })
    log().info({ event: 'application_managed', action, appId, userId })
    return done
  })
}
