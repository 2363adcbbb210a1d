import type { ReactNode } from 'react'
import { type ShownAudit, shownAudit } from '@/contract/operator'
import { ACTORS, actSaid, toLabel } from '@/contract/words'
import { idLink } from './id-link'
import { TablePart } from './part'

interface AuditPartProps {
  acts: readonly ShownAudit[]
  /** The operator who reads the page. */
  readerId: string
  /** What the act concerns; null where that is what the page shows. */
  subjectOf: (act: ShownAudit) => ReactNode
  description: string
  none: ReactNode
}

/** What was done to what the page shows. */
export const AuditPart = ({ acts, readerId, subjectOf, ...texts }: AuditPartProps) => (
  <TablePart
    title="Audit log"
    of={shownAudit}
    rows={acts}
    id="audit_id"
    fields={{
      action: actSaid,
      subject_id: subjectOf,
      at: true,
      actor: (act) => (act.operator_id === readerId ? 'You' : <Actor of={act} />),
      requested_by: true,
    }}
    {...texts}
  />
)

const Actor = ({
  of: { actor, service_token_id: token, service_name: service, operator_id: operator, operator_email: address },
}: {
  of: ShownAudit
}) => (
  <>
    {operator && actor === 'operator' ? 'Operator' : (ACTORS[actor] ?? toLabel(actor))}{' '}
    {token && <span className="block">{service ?? token}</span>}
    {operator && <span className="block">{idLink('users', address)(operator)}</span>}
  </>
)
