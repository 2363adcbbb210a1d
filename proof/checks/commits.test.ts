import { beforeAll, expect, test, vi } from 'vitest'
import { signIn } from '@/domain/passwords/sign-in'
import { wrongCode } from '@/testing/account'
import { call, change, day, hour, minute, resend, verify, withdraw } from '@/testing/api-calls'
import { givenCaller, givenChange } from '@/testing/callers'
import { setDatabase } from '@/testing/database'
import { pass, runDueWork, testDatabase } from '@/testing/domain'
import { runAt } from '@/testing/raw-sql'
import { givenService, type Service } from '@/testing/service'
import { STATEMENTS } from '@/testing/statements'

vi.mock('@/domain/sql', async (importOriginal) =>
  (await import('@/testing/statements')).notingStatements(importOriginal),
)

import.meta.glob(['../../domain/**/*.ts', '!**/*.test.ts'], { eager: true })

/** The statements whose commit may be lost with a crash of the database (docs/decisions/0009). */
const UNWAITED_STATEMENTS = [
  'begin-email-change',
  'claim-event-deliveries',
  'claim-resend',
  'give-places-back',
  'keep-acceptance',
  'mark-events-delivered',
  'mark-events-sent',
  'mark-ledger-batch-stored',
  'mark-notice-sent',
  'mark-notices-sent',
  'take-places',
  'touch-access-token',
  'touch-service-token',
  'touch-session',
]

/** What such a commit may write: places in limits, the claim of a resend, last use, and marks of what has gone out. */
const UNWAITED_WRITES = [
  'access_tokens.last_used_at',
  'email_change_requests.sent_at',
  'erasure_ledger_batches DELETE',
  'notices.due_at',
  'notices.sealed',
  'notices.sent_at',
  'outbox_events.due_at',
  'outbox_events.sent_at',
  'rate_limits',
  'service_tokens.last_used_at',
  'sessions.expires_at',
  'sessions.last_seen_at',
  // Those of an acceptance, which is signed again in the same bytes.
  'withdrawal_receipts INSERT',
]

/** A deferred trigger runs at the commit and sees what the transaction has set for it. Of an update it notes what differs. */
const NOTE_WRITES = `
  CREATE SCHEMA noted;
  CREATE TABLE noted.writes (what text, waited boolean);
  CREATE FUNCTION noted.note() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO noted.writes
    SELECT CASE WHEN TG_OP = 'UPDATE' THEN TG_TABLE_NAME || '.' || key ELSE TG_TABLE_NAME || ' ' || TG_OP END,
           current_setting('synchronous_commit') <> 'off'
    FROM jsonb_each(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(NEW) ELSE '{"row": 1}' END) AS written (key, value)
    WHERE TG_OP <> 'UPDATE' OR written.value IS DISTINCT FROM to_jsonb(OLD) -> written.key;
    RETURN NULL;
  END $$;
  DO $$
  DECLARE name text;
  BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' LOOP
      EXECUTE format('CREATE CONSTRAINT TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON public.%I
                      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION noted.note()', name);
    END LOOP;
  END $$;`

// Whatever the database's default is, a commit waits where nobody has said otherwise.
beforeAll(async () => {
  const { url } = await testDatabase()
  await runAt(url, NOTE_WRITES)
  await setDatabase(url, { synchronous_commit: 'off' })
})

interface Write {
  what: string
  waited: boolean
}

/** The writes since the last call. */
async function writesOf(ctx: Service): Promise<Write[]> {
  await ctx.settle()
  return ctx.db.$queryRaw<Write[]>`DELETE FROM noted.writes RETURNING what, waited`
}

const sorted = (writes: Write[], waited: boolean) =>
  [...new Set(writes.filter((write) => write.waited === waited).map(({ what }) => what))].sort()

test('exactly the statements that decision 0009 names commit without waiting for the disk', () => {
  const unwaited = [...STATEMENTS]
    .filter(([, { text }]) => text.includes(`'synchronous_commit', 'off'`))
    .map(([name]) => name)
  expect(
    [...new Set(unwaited.map((name) => name.replace(/-by-.*/, '')))].sort(),
    'If a crash may lose what the statement writes, name it in decision 0009 and in UNWAITED_STATEMENTS. If not, its commit must wait.',
  ).toEqual(UNWAITED_STATEMENTS)
})

test('a verification waits for the disk with everything that it changes', async () => {
  const ctx = await givenService()
  const caller = await givenCaller(ctx)
  const { id, code } = await givenChange(ctx, caller)
  await writesOf(ctx)
  expect((await verify(caller, id, code)).code).toBe('accepted')
  const writes = await writesOf(ctx)
  expect(sorted(writes, true)).toEqual(
    expect.arrayContaining([
      'audit_events INSERT',
      'email_change_requests.attempts',
      'email_change_requests.status',
      'notices INSERT',
      'users.email',
      'users.email_key',
    ]),
  )
  expect(sorted(writes, false).filter((what) => /^(?:users|email_change_requests|audit_events)\b/.test(what))).toEqual(
    [],
  )
})

test('a wrong code waits for the disk with the attempt that it costs', async () => {
  const ctx = await givenService()
  const caller = await givenCaller(ctx)
  const { id, code } = await givenChange(ctx, caller)
  await writesOf(ctx)
  expect((await verify(caller, id, wrongCode(code))).code).toBe('EMAIL_003')
  const writes = await writesOf(ctx)
  expect(sorted(writes, true)).toContain('email_change_requests.attempts')
  expect(sorted(writes, false)).not.toContain('email_change_requests.attempts')
})

test('a commit that does not wait writes limits, claims and marks only, whatever is called and whatever falls due', async () => {
  const ctx = await givenService()
  const [ada, eve] = [await givenCaller(ctx), await givenCaller(ctx)]
  await signIn(ctx, {
    email: ada.email,
    password: ada.password,
    userAgent: 'test',
    ip: '192.0.2.1',
    replaces: undefined,
  })
  await call(ada, 'getEmailStatus')
  const first = await givenChange(ctx, ada)
  await call(ada, 'cancelEmailChange', { ids: { changeRequestId: first.id } })
  const second = await givenChange(ctx, ada)
  await verify(ada, second.id, wrongCode(second.code))
  ctx.clock.advance(hour)
  expect((await resend(ada, second.id)).code).toBe('accepted')
  await change(ada, second.newEmail, { body: { new_email: second.newEmail, current_password: 'wrong' } })
  await ctx.settle()
  const third = await givenChange(ctx, eve)
  expect((await verify(eve, third.id, third.code)).code).toBe('accepted')
  expect((await withdraw(ada)).code).toBe('accepted')
  for (const ms of [0, 5 * minute, hour, day, 31 * day]) await pass(ctx, ms)
  await runDueWork(ctx)

  const writes = await writesOf(ctx)
  const unwaited = sorted(writes, false).map((what) => what.replace(/^rate_limits.*/, 'rate_limits'))
  expect(
    [...new Set(unwaited)].filter((what) => !UNWAITED_WRITES.includes(what)),
    'If a crash may lose these writes, say so in decision 0009 and add them to UNWAITED_WRITES. If not, their commit must wait.',
  ).toEqual([])
  // Proves that the check has seen writes: places in limits are always among them.
  expect(unwaited).toContain('rate_limits')
  expect(sorted(writes, true)).toEqual(
    expect.arrayContaining([
      'deletion_steps.status',
      'users.withdrawn_at',
      'withdrawals INSERT',
      'withdrawals.purged_at',
    ]),
  )
})
