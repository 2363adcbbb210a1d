import { AppError } from '@/contract/errors'
import { addEvent } from '../applications/events'
import { type AuditActor, addAudit } from '../audit'
import type { SystemContext } from '../context'
import { boolean, type Part, RAISE_VERSION, sql, statement, text, time } from '../sql'

const ofTable = (name: string, table: Part) => {
  const isMeant = (v: { id: Part; userId: Part }) =>
    sql`id = ${v.id} AND (${v.userId}::text IS NULL OR user_id = ${v.userId}) AND revoked_at IS NULL`
  return {
    lockOwner: statement(
      `lock-owner-of-${name}`,
      { id: text, userId: text.orNull },
      { id: text },
      (v) => sql`SELECT id FROM users
       WHERE id = (SELECT user_id FROM ${table} WHERE ${isMeant(v)}) AND withdrawn_at IS NULL FOR UPDATE`,
    ),
    end: statement(
      `end-${name}`,
      { id: text, userId: text, now: time, notifiesApps: boolean },
      { user_id: text },
      (v) => sql`WITH ended AS (UPDATE ${table} SET revoked_at = ${v.now} WHERE ${isMeant(v)} RETURNING user_id),
         account AS (UPDATE users u SET ${RAISE_VERSION} FROM ended WHERE u.id = ended.user_id AND ${v.notifiesApps})
       SELECT user_id FROM ended`,
    ),
  }
}
const KINDS = {
  session: ofTable('session', sql`sessions`),
  access_token: ofTable('access-token', sql`access_tokens`),
}

/** What a refusal says. */
export const NOT_LIVE = {
  session: 'There is no session with this ID that is still signed in.',
  access_token: 'There is no access token with this ID that still works.',
}

interface One extends AuditActor {
  id: string
  /** Null ends one of any user. */
  userId: string | null
  /** Applications hear of it: it is not the one that asks. */
  notifiesApps: boolean
}

/** The user whose session or token ended; undefined if it had already ended. */
export const endOne = (
  ctx: SystemContext,
  kind: keyof typeof KINDS,
  { id, userId, notifiesApps, ...by }: One,
): Promise<string | undefined> =>
  ctx.transaction(async (tx) => {
    const { lockOwner, end } = KINDS[kind]
    const at = tx.clock.now()
    const [owner] = await tx.sql(lockOwner, { id, userId })
    const [ended] = owner ? await tx.sql(end, { id, userId: owner.id, now: at, notifiesApps }) : []
    if (!ended) return
    await addAudit(tx, `${kind}.revoked`, { ...by, userId: ended.user_id, subject: id, at })
    if (notifiesApps) await addEvent(tx, 'account.sessions_ended', { userId: ended.user_id, at })
    return ended.user_id
  })

/** Whose it is, while it works. */
export async function ownerOf(ctx: SystemContext, kind: keyof typeof KINDS, id: string): Promise<string> {
  const where = { id, revokedAt: null, expiresAt: { gt: ctx.clock.now() } }
  const select = { userId: true }
  const found =
    kind === 'session'
      ? await ctx.db.session.findFirst({ where, select })
      : await ctx.db.accessToken.findFirst({ where, select })
  if (!found) throw new AppError('REQUEST_001', NOT_LIVE[kind])
  return found.userId
}

/** The operator ends one of any user. */
export async function endOneOf(ctx: SystemContext, kind: keyof typeof KINDS, id: string): Promise<{ userId: string }> {
  const userId = await endOne(ctx, kind, { id, userId: null, notifiesApps: true, actor: 'operator', ip: null })
  if (!userId) throw new AppError('REQUEST_001', NOT_LIVE[kind])
  return { userId }
}
