import type { Context, SystemContext } from './context'
import {
  auditAs,
  type Described,
  OPERATOR_COMMAND_ID,
  type Part,
  type Placeholders,
  type Shape,
  sql,
  text,
  time,
} from './sql'

/** The operator's command, an operator at a page, or a service. */
export interface Manager {
  kind: 'operator' | 'service'
  id: string
}

export const OPERATOR_COMMAND: Manager = { kind: 'operator', id: OPERATOR_COMMAND_ID }

/** Of a call of the admin API, which services and the pages of operators make. */
export const managerOf = ({ actor }: Context): Manager =>
  actor.kind === 'service_token' ? { kind: 'service', id: actor.id } : { kind: 'operator', id: actor.userId }

export const AUDITED = { auditId: text, by: text, actor: text, actorId: text.orNull, now: time } satisfies Shape
export type Audited = Described<typeof AUDITED>

/** The audit rows belong to the manager, because no new row may refer to a user who is being erased. */
export const auditValues = ({ secrets, clock }: SystemContext, { kind, id }: Manager): Audited => ({
  auditId: secrets.randomId('aud_'),
  by: id,
  actor: kind,
  actorId: kind === 'service' ? id : null,
  now: clock.now(),
})

/** The audit row of what the part `from` did; its subject is the part's `id`. */
export const auditedBy = (action: Part, from: Part, v: Placeholders<Audited>) =>
  auditAs(action, { from, id: v.auditId, user: v.by, actor: v.actor, actorId: v.actorId, subject: sql`id`, at: v.now })
