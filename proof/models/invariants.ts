import { parseAddress } from '@/contract/address'
import { ERRORS } from '@/contract/errors'
import { STEPS } from '@/contract/withdrawal'
import type { Message } from '@/domain/ports'

/**
 * Notes what the tables themselves forget: every change request and every change of an address with its time,
 * and each write that turns something back. Installed once a database, before the first write.
 */
export const OBSERVER = `
  CREATE SCHEMA proof;
  CREATE TABLE proof.requests (id text PRIMARY KEY, user_id text, new_email text, new_email_key text, requested_at timestamptz);
  CREATE TABLE proof.addresses (user_id text, email text, email_key text, at timestamptz);
  CREATE TABLE proof.withdrawals (id text PRIMARY KEY, user_id text);
  CREATE TABLE proof.faults (what text);
  CREATE FUNCTION proof.on_request() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'INSERT' THEN
      INSERT INTO proof.requests VALUES (NEW.id, NEW.user_id, NEW.new_email, NEW.new_email_key, NEW.requested_at);
    ELSE
      IF OLD.status <> 'pending_verification' AND NEW.status <> OLD.status THEN
        INSERT INTO proof.faults VALUES ('change request ' || NEW.id || ' went from ' || OLD.status || ' to ' || NEW.status);
      END IF;
      IF NEW.attempts < OLD.attempts THEN
        INSERT INTO proof.faults VALUES ('the attempts of ' || NEW.id || ' went back');
      END IF;
      IF (NEW.user_id, NEW.new_email, NEW.new_email_key) <> (OLD.user_id, OLD.new_email, OLD.new_email_key) THEN
        INSERT INTO proof.faults VALUES ('change request ' || NEW.id || ' changed its user or address');
      END IF;
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER proof AFTER INSERT OR UPDATE ON email_change_requests FOR EACH ROW EXECUTE FUNCTION proof.on_request();
  CREATE FUNCTION proof.on_user() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.email <> OLD.email THEN
      INSERT INTO proof.addresses VALUES (NEW.id, NEW.email, NEW.email_key, NEW.email_verified_at);
    END IF;
    IF OLD.withdrawn_at IS NOT NULL THEN
      INSERT INTO proof.faults VALUES ('user ' || NEW.id || ' was written after the withdrawal');
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER proof AFTER UPDATE ON users FOR EACH ROW EXECUTE FUNCTION proof.on_user();
  CREATE FUNCTION proof.on_withdrawal() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'INSERT' THEN
      INSERT INTO proof.withdrawals VALUES (NEW.id, NEW.user_id);
    ELSE
      IF OLD.completed_at IS DISTINCT FROM NEW.completed_at AND OLD.completed_at IS NOT NULL THEN
        INSERT INTO proof.faults VALUES ('withdrawal ' || NEW.id || ' ended twice');
      END IF;
      IF NEW.completed_at IS NOT NULL AND (SELECT count(*) FROM deletion_steps WHERE withdrawal_id = NEW.id AND status = 'completed') <> ${STEPS.length} THEN
        INSERT INTO proof.faults VALUES ('withdrawal ' || NEW.id || ' ended before its steps');
      END IF;
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER proof AFTER INSERT OR UPDATE ON withdrawals FOR EACH ROW EXECUTE FUNCTION proof.on_withdrawal();
  CREATE FUNCTION proof.on_step() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF array_position(ARRAY['pending', 'processing', 'completed'], NEW.status)
       < array_position(ARRAY['pending', 'processing', 'completed'], OLD.status) THEN
      INSERT INTO proof.faults VALUES (NEW.step || ' of ' || NEW.withdrawal_id || ' went back to ' || NEW.status);
    END IF;
    IF OLD.status = 'completed' THEN
      INSERT INTO proof.faults VALUES (NEW.step || ' of ' || NEW.withdrawal_id || ' was written after its end');
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER proof AFTER UPDATE ON deletion_steps FOR EACH ROW EXECUTE FUNCTION proof.on_step();`

export interface SentMail {
  to: string
  /** The Message-ID, which is the same at every try. */
  id: string
  template: Message['template']
  /** The code of a verification message. */
  code?: string
  at: Date
}

export interface AppCall {
  app: string
  /** The `webhook-id`. */
  id: string
  withdrawalId: string
}

export interface GivenAnswer {
  status: number
  body: unknown
}

/** The effects that were answered with a 2xx, and must therefore be found. */
export type Acknowledged =
  | { what: 'change'; id: string; email: string }
  | { what: 'verification'; userId: string; email: string }
  | { what: 'withdrawal'; id: string; userId: string }

export interface Evidence {
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  mails: SentMail[]
  appCalls: AppCall[]
  answers: GivenAnswer[]
  acknowledged: Acknowledged[]
  /** Texts that must stand in no table: passwords, tokens, codes in links. */
  secrets: string[]
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The invariants I1–I12 (docs/guarantees.md) as far as they show here; one sentence for each breach. */
export async function breaches(evidence: Evidence): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(CHECKS).map(async ([name, check]) => (await check(evidence)).map((what) => `${name}: ${what}`)),
  )
  return found.flat()
}

const CHECKS: Record<string, (evidence: Evidence) => Promise<string[]>> = {
  'I1 one active user an address': async ({ query }) => {
    const users = await query<{ id: string; email: string; email_key: string | null; withdrawn: boolean }>(
      'SELECT id, email, email_key, withdrawn_at IS NOT NULL AS withdrawn FROM users',
    )
    const active = users.filter(({ withdrawn }) => !withdrawn)
    const holders = Map.groupBy(active, ({ email }) => parseAddress(email)?.key)
    return [
      ...[...holders].flatMap(([key, of]) => (of.length > 1 ? [`${of.length} users hold ${key}`] : [])),
      ...active
        .filter(({ email, email_key }) => parseAddress(email)?.key !== email_key)
        .map(({ id }) => `the key of ${id} is not of its address`),
      ...users
        .filter(({ withdrawn, email_key }) => withdrawn && email_key !== null)
        .map(({ id }) => `${id} is withdrawn and holds its address`),
    ]
  },
  'I2 one pending change a user': async ({ query }) => {
    const rows = await query<{ user_id: string }>(
      `SELECT user_id FROM email_change_requests WHERE status = 'pending_verification' GROUP BY user_id HAVING count(*) > 1`,
    )
    return rows.map(({ user_id }) => `${user_id} has several`)
  },
  'I3 five attempts a request': async ({ query }) => {
    const rows = await query<{ id: string; attempts: number }>(
      'SELECT id, attempts FROM email_change_requests WHERE attempts > 5',
    )
    return rows.map(({ id, attempts }) => `${id} has ${attempts}`)
  },
  'I4 three change requests an hour': async ({ query }) => {
    const rows = await query<{ user_id: string; new_email_key: string; requested_at: Date }>(
      'SELECT user_id, new_email_key, requested_at FROM proof.requests',
    )
    const times = (by: 'user_id' | 'new_email_key') =>
      [...Map.groupBy(rows, (row) => row[by])].map(
        ([key, of]) => [key, of.map(({ requested_at }) => requested_at.getTime())] as const,
      )
    return [...overLimit(times('user_id'), 3, HOUR), ...overLimit(times('new_email_key'), 5, DAY)]
  },
  'I4 twenty mails a day to one address': async ({ mails }) => {
    const verifications = mails.filter(({ template }) => template === 'verify-new-email')
    const times = [...Map.groupBy(verifications, ({ to }) => to)].map(
      ([to, of]) => [to, of.map(({ at }) => at.getTime())] as const,
    )
    return overLimit(times, 20, DAY)
  },
  'I5 one withdrawal a user': async ({ query }) => {
    const rows = await query<{ user_id: string }>(
      'SELECT user_id FROM proof.withdrawals GROUP BY user_id HAVING count(*) > 1',
    )
    return rows.map(({ user_id }) => `${user_id} has several`)
  },
  'I6 nothing goes back': async ({ query }) => {
    const rows = await query<{ what: string }>('SELECT what FROM proof.faults')
    return rows.map(({ what }) => what)
  },
  'I7 completed only with all steps': async ({ query }) => {
    const rows = await query<{ id: string }>(
      `SELECT w.id FROM withdrawals w JOIN deletion_steps s ON s.withdrawal_id = w.id
       GROUP BY w.id HAVING (w.completed_at IS NOT NULL) <> (count(*) FILTER (WHERE s.status = 'completed') = ${STEPS.length})`,
    )
    return rows.map(({ id }) => `${id} is not as its steps are`)
  },
  'I8 nothing lives on after a withdrawal': async ({ query }) => {
    const rows = await query<{ what: string; user_id: string }>(
      `WITH gone AS (SELECT user_id FROM proof.withdrawals)
       SELECT 'session' AS what, user_id FROM sessions JOIN gone USING (user_id) JOIN users u ON u.id = user_id
         WHERE revoked_at IS NULL AND expires_at > u.withdrawn_at
       UNION ALL SELECT 'token', user_id FROM access_tokens JOIN gone USING (user_id) JOIN users u ON u.id = user_id
         WHERE revoked_at IS NULL AND expires_at > u.withdrawn_at
       UNION ALL SELECT 'pending change', user_id FROM email_change_requests JOIN gone USING (user_id) WHERE status = 'pending_verification'
       UNION ALL SELECT 'unsent mail', user_id FROM notices JOIN gone USING (user_id) WHERE due_at IS NOT NULL AND withdrawal_id IS NULL
       UNION ALL SELECT 'active user', user_id FROM gone JOIN users u ON u.id = user_id WHERE u.withdrawn_at IS NULL
       UNION ALL SELECT 'live connection', user_id FROM app_connections JOIN gone USING (user_id) WHERE disabled_at IS NULL`,
    )
    return rows.map(({ what, user_id }) => `${what} of ${user_id}`)
  },
  'I8 the purge leaves nothing, however far the steps are': async ({ query }) => {
    const rows = await query<{ what: string; id: string }>(
      `WITH purged AS (
         SELECT w.*, p.user_id AS person FROM withdrawals w JOIN proof.withdrawals p USING (id) WHERE w.purged_at IS NOT NULL
       ), open AS (
         SELECT withdrawal_id AS id, step FROM deletion_steps WHERE status <> 'completed'
       )
       SELECT 'feedback' AS what, id FROM purged WHERE feedback IS NOT NULL
       UNION ALL SELECT 'user id', id FROM purged WHERE user_id IS NOT NULL
         AND NOT EXISTS (SELECT FROM open WHERE open.id = purged.id AND step <> 'third_party_integrations')
       UNION ALL SELECT 'event', withdrawal_id FROM events JOIN purged ON purged.id = withdrawal_id
       UNION ALL SELECT 'retained record', withdrawal_id FROM retained_records JOIN purged ON purged.id = withdrawal_id
       UNION ALL SELECT 'ended credential', purged.id FROM ended_credentials c JOIN purged ON c.user_id = person
       UNION ALL SELECT 'connection', purged.id FROM app_connections c JOIN purged ON c.user_id = person
       UNION ALL SELECT 'shared item', purged.id FROM shared_items s JOIN purged ON s.user_id = person
       UNION ALL SELECT 'application that knows', withdrawal_id FROM deletion_tasks n JOIN purged ON purged.id = withdrawal_id
         WHERE n.status = 'completed' AND NOT EXISTS (SELECT FROM open WHERE open.id = withdrawal_id)`,
    )
    return rows.map(({ what, id }) => `${what} of ${id}`)
  },
  'I8 nothing ties a person to an application that knows': async ({ query }) => {
    const rows = await query<{ id: string }>(
      `SELECT n.id FROM deletion_tasks n JOIN proof.withdrawals p ON p.id = n.withdrawal_id
       WHERE n.status = 'completed' AND (n.subject IS NOT NULL
         OR EXISTS (SELECT FROM app_connections c WHERE c.user_id = p.user_id AND c.app_id = n.app_id)
         OR EXISTS (SELECT FROM shared_items s WHERE s.user_id = p.user_id AND s.app_id = n.app_id))`,
    )
    return rows.map(({ id }) => id)
  },
  'I9 what was acknowledged is there': async ({ query, acknowledged }) => {
    const has = async (text: string, values: unknown[]) => (await query(text, values)).length > 0
    const missing = await Promise.all(
      acknowledged.map(async (one) => {
        const kept =
          one.what === 'change'
            ? await has('SELECT FROM proof.requests WHERE id = $1 AND new_email = $2', [one.id, one.email])
            : one.what === 'verification'
              ? await has('SELECT FROM proof.addresses WHERE user_id = $1 AND email = $2', [one.userId, one.email])
              : await has('SELECT FROM proof.withdrawals WHERE id = $1 AND user_id = $2', [one.id, one.userId])
        return kept ? [] : [`${one.what} ${JSON.stringify(one)}`]
      }),
    )
    return missing.flat()
  },
  'I10 one effect a key': async ({ query, mails, appCalls }) => {
    const requests = await query<{ id: string; user_id: string; new_email: string }>(
      'SELECT id, user_id, new_email FROM proof.requests',
    )
    const addressOf = new Map(requests.map(({ id, new_email }) => [id, parseAddress(new_email)?.deliverable]))
    const changes = await query<{ user_id: string; email: string }>('SELECT user_id, email FROM proof.addresses')
    const sameId = [...Map.groupBy(mails, ({ id }) => id).values()]
    const calls = [...Map.groupBy(appCalls, ({ app, withdrawalId }) => `${app} of ${withdrawalId}`)]
    return [
      ...sameId
        .filter((of) => new Set(of.map(({ to, template, code }) => `${to} ${template} ${code}`)).size > 1)
        .map(([mail]) => `two messages are called ${mail?.id}`),
      // A code must never set another address than the one that it was mailed to.
      ...mails
        .filter(({ template, id, to }) => {
          const address = template === 'verify-new-email' && addressOf.get(/^ecr_[\w-]{22}/.exec(id)?.[0] ?? '')
          return address && address !== to
        })
        .map(({ id, to }) => `the code of ${id} went to ${to}`),
      ...changes
        .filter(({ user_id, email }) => !requests.some((one) => one.user_id === user_id && one.new_email === email))
        .map(({ user_id }) => `the address of ${user_id} was never asked for`),
      ...calls
        .filter(([, of]) => new Set(of.map(({ id }) => id)).size > 1)
        .map(([what]) => `${what} was told under several ids`),
    ]
  },
  'I11 every refusal is the envelope with a listed code': async ({ answers }) =>
    answers.flatMap((answer) => envelopeProblem(answer) ?? []),
  'I12 no secret in a table': async ({ query, secrets }) => {
    const tables = await query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE '\\_%'`,
    )
    const union = tables
      .map(({ name }) => `SELECT '${name}' AS name, t::text AS row FROM ${name} t`)
      .join(' UNION ALL ')
    const rows = await query<{ name: string; secret: string }>(
      `SELECT DISTINCT name, secret FROM (${union}) r, unnest($1::text[]) secret WHERE strpos(row, secret) > 0`,
      [secrets],
    )
    return rows.map(({ name, secret }) => `${secret.slice(0, 6)}… in ${name}`)
  },
}

/** Null if the refusal has the envelope of the contract. */
export function envelopeProblem({ status, body }: GivenAnswer): string | null {
  if (status >= 200 && status < 300) return null
  const { success, error, timestamp } = (body ?? {}) as {
    success?: unknown
    error?: { code?: unknown; message?: unknown; details?: unknown }
    timestamp?: unknown
  }
  const listed = Object.entries(ERRORS).find(([code]) => code === error?.code)?.[1]
  const isWhole =
    success === false &&
    listed?.status === status &&
    error?.message === listed.message &&
    typeof error.details === 'string' &&
    typeof timestamp === 'string'
  return isWhole ? null : `${status} ${JSON.stringify(body)?.slice(0, 200)}`
}

/** Keys with more than `places` times inside any window that is closed at one end. */
function overLimit(times: (readonly [key: string, times: number[]])[], places: number, windowMs: number): string[] {
  return times.flatMap(([key, of]) => {
    const sorted = of.toSorted((a, b) => a - b)
    const isOverLimit = sorted.some((time, index) => (sorted[index + places] ?? Infinity) - time < windowMs)
    return isOverLimit ? [`more than ${places} for ${key}`] : []
  })
}
