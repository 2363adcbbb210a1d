import type { SystemContext } from '../context'
import { audit, statement, text, time, type ValuesOf } from '../sql'

type LookUp = ValuesOf<typeof insert>

const insert = statement(
  'note-look-up',
  {
    /** The account that was found. */
    userId: text,
    actor: text.of<'operator' | 'service'>(),
    /** The service token, or the operator's own account; null for the operator command. */
    actorId: text.orNull,
    ip: text.orNull,
    now: time,
    auditId: text,
  },
  {},
  (v) =>
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
