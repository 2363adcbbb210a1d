import { AppError } from '@/contract/errors'
import type { Context } from '@/domain/context'
import {
  beginIdempotentCall,
  type KeptAnswer,
  keepAnswer,
  keepAnswerWithEffect,
  releaseKey,
} from '@/domain/idempotency'
import { sha256 } from '@/domain/sessions/authenticate'
import { acceptanceOfRepetition } from '@/domain/withdrawal/ledger/ledger-before-answer'
import { describeError, log } from '../watch/log'
import type { Exchange, Params } from './exchange'

/** Handles the Idempotency-Key: keeps a success or a counted refusal and repeats it. Every other refusal leaves the key free. */
export async function answerOnce(
  exchange: Exchange,
  ctx: Context,
  given: { key: string; body: string; params: Params },
  run: () => Promise<Response>,
): Promise<Response> {
  // After a withdrawal only the credential that made the call may read its answer again.
  if (ctx.actor.withdrawal?.madeTheCall === false) return run()
  if (!/^[\x21-\x7e]{1,255}$/.test(given.key)) {
    throw new AppError('REQUEST_001', 'Idempotency-Key must be 1 to 255 visible ASCII characters.')
  }
  const path = new URL(exchange.request.url).pathname
  const caller = ctx.actor.userId || ctx.actor.id
  const key = sha256(`${caller}\n${path}\n${given.key}`).toString('base64url')
  const call = await beginIdempotentCall(ctx, { key, userId: caller, body: given.body })
  if ('body' in call) {
    const body = exchange.contract?.waitsForLedger ? await withAcceptance(ctx, call) : call.body
    return exchange.replay(body, call.status, call.headers)
  }
  let isKept = false
  ctx.keepAnswer = async function (data) {
    await keepAnswerWithEffect(this, call, exchange.compose(data, given.params))
    isKept = true
  }
  let response: Response
  let isFinal = true
  try {
    response = await run()
    if (isKept) return response
  } catch (error) {
    response = exchange.fail(error)
    isFinal = error instanceof AppError && error.isCounted
  }
  // The verb has already had its effect, so a failure to keep the answer must not change the answer.
  await (isFinal ? keepAnswer(ctx, call, await toKept(response)) : releaseKey(ctx, call)).catch((error) =>
    log().error({ event: 'idempotency_key_not_kept', ...describeError(error) }),
  )
  return response
}

/** An answer is kept in the transaction of its withdrawal, before there is an acceptance. */
async function withAcceptance(ctx: Context, { body, status }: KeptAnswer): Promise<string> {
  if (status >= 300) return body
  const kept = JSON.parse(body)
  kept.data.receipt ||= await acceptanceOfRepetition(ctx, kept.data.withdrawal_id)
  return JSON.stringify(kept)
}

async function toKept(response: Response): Promise<KeptAnswer> {
  const headers = Object.fromEntries(
    ['Location', 'Set-Cookie'].flatMap((name) => {
      const value = response.headers.get(name)
      return value ? [[name, value]] : []
    }),
  )
  return { status: response.status, headers, body: await response.clone().text() }
}
