import { cache } from 'react'
import { AppError } from '@/contract/errors'
import { isOperator } from '@/domain/access/operators'
import { retryWithdrawal } from '@/domain/withdrawal/operate-withdrawal'
import { getEnv } from '../env'
import { answer } from '../http/answer'
import { log } from '../watch/log'
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

/** The operator's Retry. Only the cookie authenticates it, so the request must come from a page of this service. */
export async function retryAsOperator(
  request: Request,
  { params }: { params: Promise<{ withdrawalId: string }> },
): Promise<Response> {
  const ctx = await pageContext()
  if (!ctx) return answer(401, { error: 'Sign in again.' })
  if (!(await isOperatorHere())) return answer(404, { error: 'Not found.' })
  const { userId } = ctx.actor
  const { withdrawalId } = await params
  if (!isSameOrigin(request)) {
    log().warn({ event: 'cross_site_refused', area: 'admin', userId })
    return answer(403, { error: 'Only from the page itself.' })
  }
  try {
    const steps = await retryWithdrawal(ctx, withdrawalId, userId)
    log().info({ event: 'withdrawal_retried', withdrawalId, userId, steps })
    return answer(200, { retried_steps: steps })
  } catch (error) {
    if (error instanceof AppError && error.code === 'WITHDRAWAL_004') return answer(404, { error: 'Not found.' })
    throw error
  }
}

/** Browsers send Sec-Fetch-Site; older ones at least send Origin. */
function isSameOrigin({ headers }: Request): boolean {
  const site = headers.get('Sec-Fetch-Site')
  return site ? site === 'same-origin' : headers.get('Origin') === getEnv().appUrl
}
