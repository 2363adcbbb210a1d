import type { Data, Input } from '@/contract/define'
import { AppError, RULES } from '@/contract/errors'
import { normalisedPassword } from '@/contract/guessable-password'
import type { changePassword as contract } from '@/contract/password'
import type { Context } from '../context'
import { takePlaces, takePlacesInside, userBucket } from '../limits/buckets'
import { isStillLive, refusalOfEnded } from '../sessions/live-caller'
import { integer, type RowOf, sql, statement, text } from '../sql'
import { countGuess, guessBuckets } from './guesses'
import { requireGoodPassword } from './new-password'
import { lockProven, replaceAndNotify } from './replace-password'

const findPassword = statement(
  'find-password',
  { userId: text },
  { password_hash: text.orNull, credential_version: integer },
  (v) => sql`SELECT password_hash, credential_version FROM users WHERE id = ${v.userId} AND withdrawn_at IS NULL`,
)

/** Ends every other session and every access token, and cancels the pending change. */
export async function changePassword(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const { actor, ip, userAgent } = ctx
  const { userId } = actor
  const { current_password: current, new_password: wanted } = input
  const guess = await takePlaces(ctx, { take: guessBuckets(ctx, userId) })
  const proven = await countGuess(ctx, guess, () => prove(ctx, userId, current))
  if (normalisedPassword(wanted) === normalisedPassword(current)) {
    throw new AppError('PASSWORD_001', RULES.currentAsNew)
  }
  await requireGoodPassword(ctx, wanted, actor.user)
  const passwordHash = await ctx.passwords.hash(wanted, ctx.clientGone?.())

  const data = { password_changed: true } as const
  const isReplaced = await ctx.transaction(async (tx) => {
    const [account, isLive] = await Promise.all([
      lockProven(tx, { userId, credentialVersion: proven.credential_version }),
      isStillLive(tx, actor),
    ])
    if (!account || !isLive) return false
    await takePlacesInside(tx, { take: [userBucket(tx, 'passwordChange', userId)] })
    const by = { actor: actor.kind, ip, userAgent }
    await replaceAndNotify(tx, account, { action: 'password.changed', by, passwordHash, except: actor.id })
    await tx.keepAnswer?.(data)
    return true
  })
  if (!isReplaced) throw await refusalOfEnded(ctx)
  return data
}

async function prove(ctx: Context, userId: string, current: string): Promise<RowOf<typeof findPassword>> {
  const [found] = await ctx.sql(findPassword, { userId })
  if (!found) throw new AppError('AUTH_001')
  const hash = found.password_hash ?? undefined
  if (!(await ctx.passwords.verify(hash, current, { signal: ctx.clientGone?.() }))) {
    throw AppError.counted('EMAIL_007', found.password_hash === null ? 'This account has no password.' : undefined)
  }
  return found
}
