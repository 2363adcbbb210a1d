import type { SystemContext } from '../context'
import { heldSince } from '../limits/held-addresses'
import { ledgerMarkOf } from '../pseudonyms'
import { audit, boolean, bytes, fenced, integer, isOneOf, type RowOf, sql, statement, text, time } from '../sql'
import { withdrawnExternalIds } from './ended-external-ids'
import { type ImportedLine, type Problem, readImportLine } from './import-line'
import { SeenTexts } from './seen-texts'

/** Lines in one transaction, which locks that many addresses until it ends. */
export const IMPORT_BATCH = 1000
/** The next try finds an account that was created between the look-up and the insert. */
const MAX_TRIES = 3

/** A line as it was read; `problem` is set if it cannot be read. */
export interface GivenLine {
  line: number
  text: string
  problem?: string
}

interface ImportResult {
  line: number
  external_id?: string
  result: 'created' | 'unchanged' | 'refused'
  user_id?: string
  code?: Problem['code']
  error?: string
}

interface ImportProblem extends Problem {
  line: number
  external_id?: string
}

interface Line extends ImportedLine {
  line: number
}

type Match = RowOf<typeof findAccounts>

const findAccounts = statement(
  'find-imported',
  { externalIds: text.orNull.list, emailKeys: text.orNull.list, heldSince: time },
  {
    place: integer,
    /** The account of this external id. */
    owner: text.orNull,
    /** The account that has this address, and its external id. */
    holder: text.orNull,
    holder_external_id: text.orNull,
    /** Another account replaced this address and can still go back to it. */
    is_held: boolean,
  },
  (v) => sql`SELECT l.place::int AS place, h.id AS holder, h.external_id AS holder_external_id,
          (SELECT id FROM users WHERE external_id = l.external_id AND withdrawn_at IS NULL) AS owner,
          h.id IS NULL AND address_is_held(l.email_key, NULL, ${v.heldSince}) AS is_held
   FROM unnest(${v.externalIds}::text[], ${v.emailKeys}::text[]) WITH ORDINALITY AS l (external_id, email_key, place)
   LEFT JOIN LATERAL (${fenced(sql`SELECT id, external_id FROM users WHERE email_key = l.email_key`)}) h ON true`,
)

// The addresses are locked in the order of their locks, so that concurrent imports cannot deadlock. A row that another writer has
// stored meanwhile is skipped, because the database's log would quote a refused one.
const insertAccounts = statement(
  'import-users',
  {
    ids: text.list,
    externalIds: text.orNull.list,
    names: text.list,
    emails: text.list,
    emailKeys: text.list,
    verified: boolean.list,
    passwordHashes: text.orNull.list,
    locales: text.orNull.list,
    createdAts: time.list,
    ledgerMarks: text.list,
    auditIds: text.list,
    heldSince: time,
    now: time,
  },
  { id: text },
  (v) => sql`WITH line AS (
     ${fenced(sql`SELECT * FROM unnest(${v.ids}::text[], ${v.externalIds}::text[], ${v.names}::text[], ${v.emails}::text[], ${v.emailKeys}::text[],
                          ${v.verified}::boolean[], ${v.passwordHashes}::text[], ${v.locales}::text[], ${v.createdAts}::timestamptz[],
                          ${v.ledgerMarks}::text[], ${v.auditIds}::text[])
       AS l (id, external_id, name, email, email_key, verified, password_hash, locale, created_at, ledger_mark, audit_id)
     ORDER BY hashtext(l.email_key) & 65535`)}
   ), account AS (
     INSERT INTO users (id, external_id, name, email, email_key, email_verified_at, password_hash, locale, created_at, ledger_mark)
     SELECT id, external_id, name, email, email_key, CASE WHEN verified THEN ${v.now}::timestamptz END, password_hash, locale, created_at,
       ledger_mark
     FROM line WHERE address_is_free(email_key, id, ${v.heldSince})
     ON CONFLICT DO NOTHING
     RETURNING id
   ), audited AS (
     ${audit('user.imported', {
       from: sql`account JOIN line USING (id)`,
       id: sql`audit_id`,
       user: sql`id`,
       actor: sql`'operator'`,
       at: v.now,
     })}
   )
   SELECT id FROM account`,
)

// Runs after the insert, in its transaction. The unique index lets the insert pass only after the withdrawal of an earlier account
// with this external id has committed. So this statement sees that withdrawal, which the look-up before the insert can miss.
const takeBackWithdrawn = statement(
  'take-back-imported',
  { ids: text.list, macs: bytes.list },
  { id: text },
  (v) => sql`WITH withdrawn AS (
     SELECT DISTINCT l.id FROM unnest(${v.ids}::text[], ${v.macs}::bytea[]) AS l (id, mac)
     JOIN ended_external_ids e ON e.external_id_mac = l.mac
   ), account AS (
     DELETE FROM users WHERE ${isOneOf(sql`id`, sql`SELECT id FROM withdrawn`)}
   ), audited AS (
     DELETE FROM audit_events WHERE ${isOneOf(sql`user_id`, sql`SELECT id FROM withdrawn`)}
   )
   SELECT id FROM withdrawn`,
)

/**
 * Imports lines in the order of the file. Each batch is one transaction, so a killed run can be started again: it finds the
 * accounts that it had created as `unchanged`. Two lines of one run never share an external id or an address.
 */
export function startImport(ctx: SystemContext): { take(lines: GivenLine[]): Promise<ImportResult[]> } {
  const seen = createSeen()
  return {
    async take(given) {
      const lines = given.map((line) => readLine(ctx, line))
      for (const line of lines) if (line.problems.length === 0) noteRepeated(seen, line)
      await noteWithdrawn(ctx, lines)
      const results = new Map<Line, ImportResult>()
      const open = () => lines.filter((line) => line.problems.length === 0 && !results.has(line))
      for (let tries = 0; tries < MAX_TRIES && open().length > 0; tries++) {
        for (const [line, found] of await lookUp(ctx, open())) {
          const userId = existingOf(line, found)
          if (userId) results.set(line, { ...nameOf(line), result: 'unchanged', user_id: userId })
          else noteHeld(line, found)
        }
        for (const [line, userId] of await insert(ctx, open())) {
          results.set(line, { ...nameOf(line), result: 'created', user_id: userId })
        }
      }
      return lines.map((line) => results.get(line) ?? refused(line))
    },
  }
}

/** Finds every problem that an import would have, and writes nothing. */
export function startImportCheck(ctx: SystemContext): { take(lines: GivenLine[]): Promise<ImportProblem[]> } {
  const seen = createSeen()
  return {
    async take(given) {
      const lines = given.map((line) => readLine(ctx, line))
      for (const line of lines) noteRepeated(seen, line)
      await noteWithdrawn(ctx, lines)
      for (const [line, found] of await lookUp(ctx, lines)) if (!existingOf(line, found)) noteHeld(line, found)
      return lines.flatMap((line) => line.problems.map((problem) => ({ ...nameOf(line), ...problem })))
    },
  }
}

const createSeen = () => ({ externalIds: new SeenTexts(), addresses: new SeenTexts() })

function readLine(ctx: SystemContext, { line, text, problem }: GivenLine): Line {
  const read = readImportLine(problem ? '{}' : text, ctx.clock.now())
  return { line, ...read, ...(problem && { problems: [{ code: 'REQUEST_001', error: problem }] }) }
}

const nameOf = ({ line, externalId }: Line) => ({ line, ...(externalId !== null && { external_id: externalId }) })

function noteRepeated(seen: ReturnType<typeof createSeen>, { line, externalId, address, problems }: Line): void {
  if (externalId !== null) {
    const first = seen.externalIds.firstLineOf(externalId, line)
    if (first !== line) problems.push({ code: 'REQUEST_001', error: `external_id is the same as in line ${first}.` })
  }
  if (address) {
    const first = seen.addresses.firstLineOf(address.key, line)
    if (first !== line) problems.push({ code: 'EMAIL_002', error: `email is the same address as in line ${first}.` })
  }
}

const WITHDRAWN: Problem = { code: 'USER_002', error: 'The account of this external_id was withdrawn.' }

async function noteWithdrawn(ctx: SystemContext, lines: Line[]): Promise<void> {
  const externalIds = lines.flatMap(({ externalId }) => externalId ?? [])
  const withdrawn = await withdrawnExternalIds(ctx, externalIds)
  for (const { externalId, problems } of lines) {
    if (externalId !== null && withdrawn.has(externalId)) problems.push(WITHDRAWN)
  }
}

async function lookUp(ctx: SystemContext, lines: Line[]): Promise<[Line, Match][]> {
  if (lines.length === 0) return []
  const found = await ctx.sql(findAccounts, {
    externalIds: lines.map(({ externalId }) => externalId),
    emailKeys: lines.map(({ address }) => address?.key ?? null),
    heldSince: heldSince(ctx, ctx.clock.now()),
  })
  return found.map((row) => [lines[row.place - 1] as Line, row])
}

/** The account that an earlier run created from this line, found by the external id or, without one, by the address. */
function existingOf({ externalId }: Line, { owner, holder, holder_external_id }: Match): string | null {
  if (externalId !== null) return owner
  return holder_external_id === null ? holder : null
}

function noteHeld({ problems }: Line, { holder, is_held: isHeld }: Match): void {
  if (holder || isHeld) problems.push({ code: 'EMAIL_002', error: 'email is the address of another account.' })
}

/** The lines that became accounts. If an account was withdrawn since the look-up, its line gets a problem. */
async function insert(ctx: SystemContext, lines: Line[]): Promise<[Line, string][]> {
  if (lines.length === 0) return []
  const now = ctx.clock.now()
  const byId = new Map(lines.map((line) => [ctx.secrets.randomId('usr_'), line]))
  const insertion = {
    ids: [...byId.keys()],
    externalIds: lines.map(({ externalId }) => externalId),
    names: lines.map(({ name }) => name),
    emails: lines.map(({ address }) => address?.typed ?? ''),
    emailKeys: lines.map(({ address }) => address?.key ?? ''),
    verified: lines.map(({ emailVerified }) => emailVerified),
    passwordHashes: lines.map(({ passwordHash }) => passwordHash),
    locales: lines.map(({ locale }) => locale),
    createdAts: lines.map(({ createdAt }) => createdAt ?? now),
    ledgerMarks: [...byId.keys()].map((id) => ledgerMarkOf(ctx, id)),
    auditIds: lines.map(() => ctx.secrets.randomId('aud_')),
    heldSince: heldSince(ctx, now),
    now,
  }
  const [created, withdrawn] = await ctx.transaction(async (tx) => {
    const created = await tx.sql(insertAccounts, insertion)
    const macs = created.flatMap(({ id }) => {
      const { externalId } = byId.get(id) as Line
      return externalId === null ? [] : tx.secrets.macs('external-id', externalId).map((mac) => ({ id, mac }))
    })
    const ids = macs.map(({ id }) => id)
    return [created, await tx.sql(takeBackWithdrawn, { ids, macs: macs.map(({ mac }) => mac) })]
  })
  for (const { id } of withdrawn) byId.get(id)?.problems.push(WITHDRAWN)
  return created
    .map(({ id }): [Line, string] => [byId.get(id) as Line, id])
    .filter(([line]) => line.problems.length === 0)
}

function refused(line: Line): ImportResult {
  const [problem] = line.problems
  const { code, error } = problem ?? {
    code: 'SERVER_002' as const,
    error: 'The account was written by somebody else meanwhile. Run the import again.',
  }
  return { ...nameOf(line), result: 'refused', code, error }
}
