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

/** Handles the Idempotency-Key: keeps the first answer and repeats it. An answer that a later try could change is not kept. */
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
  try {
    response = await run()
    if (isKept) return response
  } catch (error) {
    response = exchange.fail(error)
  }
  // A 401 is not kept, because the credential ended meanwhile and the call itself had no outcome. A refusal that no limit counted is not
  // kept either: it is the same every time, and unlimited calls could fill the table.
  const counted = response.status < 400 || exchange.buckets.length > 0
  const final = counted && response.status < 500 && response.status !== 401 && !response.headers.has('Retry-After')
  // The verb has already had its effect, so a failure to keep the answer must not change the answer.
  await (final ? keepAnswer(ctx, call, await toKept(response)) : releaseKey(ctx, call)).catch((error) =>
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
    ['Location', 'WWW-Authenticate', 'Set-Cookie'].flatMap((name) => {
      const value = response.headers.get(name)
      return value ? [[name, value]] : []
    }),
  )
  return { status: response.status, headers, body: await response.clone().text() }
}
