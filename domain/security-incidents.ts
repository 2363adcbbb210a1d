import type { AnyContext } from './context'
import { hour } from './limits/durations'
import { fenced, isOneOf, type Part, type Placeholders, sql, statement, text, time } from './sql'

/** What the person reads in the export of their data. No sentence holds an address. */
const INCIDENTS = {
  sign_in_locked: 'Too many wrong passwords were tried. Signing in from that network was refused for a while.',
  code_locked: 'Every attempt of a verification code was used up with wrong codes.',
  change_undone: 'A change of the email address was stopped or undone by the link in the mail about it.',
  proof_refused: 'The identity provider did not confirm that it was you.',
  sign_in_disowned: 'A sign-in was reported as somebody else’s by the link in the mail about it.',
  sessions_ended: 'Support ended every session.',
} as const
type Incident = keyof typeof INCIDENTS

/** Per account; older rows are deleted. */
const MAX_KEPT = 100
/** A repeated incident adds no row within this time. */
const REPEATED_WITHIN_MS = hour

const NOTE = { account: text, kind: text, description: text, now: time, since: time, id: text }
type Note = Placeholders<typeof NOTE>

const insertIncident = (name: string, isAccount: (v: Note) => Part) =>
  statement(
    name,
    NOTE,
    {},
    (v) => sql`WITH account AS (
     SELECT id FROM users WHERE ${isAccount(v)} AND withdrawn_at IS NULL FOR SHARE
   ), oldest AS (
     DELETE FROM security_incidents WHERE ${isOneOf(
       sql`id`,
       sql`SELECT s.id FROM security_incidents s WHERE s.user_id = (SELECT id FROM account) ORDER BY s.at DESC OFFSET ${MAX_KEPT - 1}`,
     )}
   )
   INSERT INTO security_incidents (id, user_id, kind, description, ip, at)
   SELECT ${v.id}, account.id, ${v.kind}, ${v.description}, '', ${v.now} FROM account
   WHERE NOT EXISTS (${fenced(
     sql`SELECT FROM security_incidents s WHERE s.user_id = account.id AND s.kind = ${v.kind} AND s.at > ${v.since}::timestamptz`,
   )})`,
  )
const noteOfUser = insertIncident('note-security-incident', (v) => sql`id = ${v.account}`)
const noteOfAddress = insertIncident('note-security-incident-of-address', (v) => sql`email_key = ${v.account}`)

/** Writes what happened to an open account; nothing for an address that nobody has. */
export async function noteIncident(
  { sql, clock, secrets }: AnyContext,
  kind: Incident,
  of: { userId: string } | { emailKey: string },
): Promise<void> {
  const now = clock.now()
  await sql('userId' in of ? noteOfUser : noteOfAddress, {
    account: 'userId' in of ? of.userId : of.emailKey,
    kind,
    description: INCIDENTS[kind],
    now,
    since: new Date(now.getTime() - REPEATED_WITHIN_MS),
    id: secrets.randomId('sec_'),
  })
}
