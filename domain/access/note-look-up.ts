import type { SystemContext } from '../context'
import { audit, statement } from '../sql'

interface LookUp {
  /** The account that was found. */
  userId: string
  actor: 'operator' | 'service'
  /** The service token, or the operator's own account; null for the operator command. */
  actorId: string | null
  ip: string | null
  now: Date
  auditId: string
}

const insert = statement<LookUp>('note-look-up', (v) =>
  audit('account.looked_up', {
    id: v.auditId,
    user: v.userId,
    actor: v.actor,
    actorId: v.actorId,
    ip: v.ip,
    at: v.now,
  }),
)

/** Runs before the answer, so that nobody is looked up in secret. What was asked for may be an address and is not kept. */
export async function noteLookUp(
  { sql, clock, secrets }: SystemContext,
  of: Pick<LookUp, 'userId' | 'actor' | 'actorId' | 'ip'>,
): Promise<void> {
  await sql(insert, { ...of, now: clock.now(), auditId: secrets.randomId('aud_') })
}
