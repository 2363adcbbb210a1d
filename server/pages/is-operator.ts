import { cache } from 'react'
import { isOperator } from '@/domain/accounts/operators'
import { log } from '../watch/log'
import { pageContext } from './session'

/** Whether the signed-in person is an operator. Cached for each page. */
export const isOperatorSignedIn = cache(async (): Promise<boolean> => {
  const ctx = await pageContext()
  if (!ctx) return false
  const { userId } = ctx.actor
  const admitted = await isOperator(ctx, userId)
  if (!admitted) log().warn({ event: 'authorization_refused', area: 'admin', userId })
  return admitted
})
