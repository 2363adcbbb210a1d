import type * as z from 'zod'
import type { Contract } from '@/contract/define'
import { AppError, parseIssueMessage } from '@/contract/errors'
import type { Context } from '@/domain/context'
import { takePlaces, userBucket } from '@/domain/limits/buckets'
import { takeReadPlace, takeServicePlace } from '@/domain/limits/reads'
import type { Params } from './exchange'

interface Sent {
  body: unknown
  url: string
}

/** Checks the fields of path, query and body, and the limits that the verb does not count itself. */
export async function acceptInput(ctx: Context, contract: Contract, params: Params, sent: Sent): Promise<unknown> {
  const { limit } = contract
  let input: unknown
  try {
    input = parseInput(contract, params, sent)
  } catch (refusal) {
    if (limit?.countsInvalidCalls) await takeCallPlace(ctx, limit.bucket)
    throw refusal
  }
  if (limit && limit.countedBy !== 'verb') await takeCallPlace(ctx, limit.bucket)
  return input
}

export function parseInput(contract: Contract, params: Params, { body, url }: Sent): Record<string, unknown> {
  const schema = contract.accepts ?? contract.body
  const query = contract.query && parseWith(contract.query, queryOf(url))
  return { ...parseWith(schema, body), ...query, ...parseWith(contract.params, params) }
}

/** A name that is given twice becomes a list, which no member accepts. */
function queryOf(url: string): Record<string, unknown> {
  const { searchParams } = new URL(url)
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => {
      const [value, ...more] = searchParams.getAll(name)
      return [name, more.length > 0 ? [value, ...more] : value]
    }),
  )
}

function parseWith(schema: z.ZodObject | undefined, value: unknown): Record<string, unknown> {
  const result = schema?.safeParse(value)
  if (result && !result.success) {
    const issue = result.error.issues[0]
    if (!issue?.path.length) throw new AppError('REQUEST_001')
    const { code, details } = parseIssueMessage(issue.message)
    throw new AppError(code, details)
  }
  return result?.data ?? {}
}

async function takeCallPlace(ctx: Context, bucket: NonNullable<Contract['limit']>['bucket']) {
  if (bucket === 'read') takeReadPlace(ctx)
  else if (bucket === 'service') takeServicePlace(ctx)
  else if (bucket !== 'report') await takePlaces(ctx, { take: [userBucket(ctx, bucket, ctx.actor.userId)] })
}
