import { expect, test } from 'vitest'
import { NOTICE_KINDS } from '@/domain/notices'
import { createSecrets } from '@/server/adapters/secrets'
import { givenUser, type TestContext, testContext } from '@/testing/domain'
import { givenConnectedApps, givenWithdrawal } from '@/testing/withdrawals'
import { writeArchive } from './applications/archives'
import { beginIdempotentCall, type FirstCall, keepAnswer } from './idempotency'
import { hour } from './limits/durations'
import { sendDueNotices } from './mail/notice-queue'
import { resealSecrets, SEALED } from './reseal-secrets'
import { runDeletionStep } from './withdrawal/run-deletion-step'

const [OLD, NEW] = ['code-secret-for-tests', 'code-secret-that-is-newer']
const NOTHING = { resealed: 0, already_newest: 0, unopenable: 0 }

const configure = (ctx: TestContext, ...code: string[]) => {
  ctx.secrets = createSecrets({ auth: ['auth-secret-for-tests'], code })
}

/** A rotated secret, an undelivered event, and the sealed subjects that the end of the withdrawal needs. */
async function givenSealedForApplications(ctx: TestContext, withdrawalId: string) {
  const sealed = new Uint8Array(ctx.secrets.seal(JSON.stringify({ subject: 'reader 7' })))
  const app = await ctx.db.connectedApp.findFirstOrThrow({ where: { sealedPreviousSecret: null } })
  await ctx.db.connectedApp.update({ where: { id: app.id }, data: { sealedPreviousSecret: sealed } })
  await ctx.db.withdrawal.update({ where: { id: withdrawalId }, data: { sealedSubjects: sealed } })
  const delivery = { id: `dlv_${withdrawalId}`, appId: app.id, sealedData: sealed, status: 'dead' }
  const event = { id: `evt_${withdrawalId}`, type: 'account.withdrawal_started', withdrawalId, data: {}, version: 1 }
  await ctx.db.event.create({ data: { ...event, occurredAt: ctx.clock.now(), deliveries: { create: delivery } } })
}

/** A database with `count` rows of every kind, sealed with the old secret; a newer one is now first. */
async function givenRotation(count: number) {
  const ctx = await testContext()
  await ctx.db
    .$executeRaw`TRUNCATE withdrawals, notices, archive_keys, idempotency_keys, app_connections, connected_apps,
    link_requests, signing_keys CASCADE`
  ctx.mailServer.accepts = false
  for (let n = 0; n < count; n++) {
    const { userId, withdrawalId } = await givenWithdrawal(ctx, [`shop${n}`])
    await givenSealedForApplications(ctx, withdrawalId)
    await ctx.db.deletionTask.updateMany({
      where: { withdrawalId },
      data: {
        subject: null,
        sealedSubject: new Uint8Array(ctx.secrets.seal(`customer ${n}`)),
        sealedAccount: new Uint8Array(ctx.secrets.seal(userId)),
      },
    })
    const call = await beginIdempotentCall(ctx, { key: `key ${n}`, userId, body: '{}' })
    await keepAnswer(ctx, call as FirstCall, { status: 200, headers: {}, body: `answer ${n}` })
    const at = ctx.clock.now()
    const sealed = new Uint8Array(ctx.secrets.seal(`request ${n}`))
    await ctx.db.linkRequest.create({ data: { id: `prr_${n}`, sealed, requestedAt: at, dueAt: at } })
  }
  ctx.mailServer.accepts = true
  // The first withdrawal made the first key.
  const [key] = await ctx.db.signingKey.findMany()
  for (let number = 2; key && number <= count; number++) {
    await ctx.db.signingKey.create({ data: { ...key, number, kid: `key ${number}` } })
  }
  configure(ctx, NEW, OLD)
  return ctx
}

const everyKind = (counts: object) =>
  Object.fromEntries(Object.keys(SEALED).map((kind) => [kind, { ...NOTHING, ...counts }]))

test('every sealed value moves to the newest secret, and opens without the old one', async () => {
  const ctx = await givenRotation(5)
  // In batches of two, so that the last one is not full.
  expect(await resealSecrets(ctx, 2)).toEqual(everyKind({ resealed: 5 }))
  expect(await resealSecrets(ctx, 2)).toEqual(everyKind({ already_newest: 5 }))
  configure(ctx, NEW)
  expect(await resealSecrets(ctx)).toEqual(everyKind({ already_newest: 5 }))

  ctx.clock.advance(60_000)
  expect(await sendDueNotices(ctx, NOTICE_KINDS)).toBe(5)
  const { id: withdrawalId } = await ctx.db.withdrawal.findFirstOrThrow()
  ctx.clock.advance(hour)
  const subjects: string[] = []
  ctx.apps.answer = async ({ body }) => {
    subjects.push(JSON.parse(body).data.subject)
    return { status: 204 }
  }
  expect(await runDeletionStep(ctx, { withdrawalId, step: 'third_party_integrations' })).toBeNull()
  expect(subjects).toEqual([expect.stringMatching(/^customer \d$/)])
  const { userId } = await ctx.db.archiveKey.findFirstOrThrow()
  const { sealedKey } = await ctx.db.archiveKey.findUniqueOrThrow({ where: { userId } })
  expect(ctx.secrets.open(sealedKey)).toHaveLength(32)
  const { answer } = await ctx.db.idempotencyKey.findUniqueOrThrow({ where: { key: 'key 0' } })
  expect(JSON.parse(ctx.secrets.open(answer as Uint8Array)?.toString() ?? '')).toMatchObject({ body: 'answer 0' })
})

test('an interrupted run keeps what it has moved, and the next one moves the rest', async () => {
  const ctx = await givenRotation(4)
  const { sql } = ctx
  let updates = 0
  const started: Promise<unknown>[] = []
  ctx.sql = async (statement, values) => {
    if (statement.name.startsWith('reseal-') && ++updates > 6) throw new Error('killed')
    const rows = sql(statement, values)
    started.push(rows)
    return rows
  }
  await expect(resealSecrets(ctx)).rejects.toThrow('killed')
  await Promise.allSettled(started)
  ctx.sql = sql
  const counts = Object.values(await resealSecrets(ctx))
  expect(counts.reduce((sum, { already_newest }) => sum + already_newest, 0)).toBe(6)
  expect(counts.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(4 * counts.length - 6)
})

test('a value that no configured secret opens is counted and stays as it is', async () => {
  const ctx = await givenRotation(2)
  configure(ctx, NEW)
  const before = await ctx.db.archiveKey.findMany()
  expect(await resealSecrets(ctx)).toEqual(everyKind({ unopenable: 2 }))
  expect(await ctx.db.archiveKey.findMany()).toEqual(before)
})

test('a value that the service writes during the run is not overwritten', async () => {
  const ctx = await givenRotation(1)
  const written = ctx.secrets.seal('whsec_bmV3')
  const { sql } = ctx
  ctx.sql = async (statement, values) => {
    if (statement.name === 'reseal-application_secrets') {
      ctx.sql = sql
      await ctx.db.connectedApp.updateMany({ data: { sealedSecret: new Uint8Array(written) } })
      await ctx.db.archiveKey.deleteMany()
    }
    return sql(statement, values)
  }
  expect(await resealSecrets(ctx)).toMatchObject({
    application_secrets: { ...NOTHING, already_newest: 1 },
    archive_keys: NOTHING,
  })
  const [app] = await ctx.db.connectedApp.findMany()
  expect(written.equals(app?.sealedSecret as Uint8Array)).toBe(true)
})

test('withdrawals, archives and calls work while everything is resealed', async () => {
  const ctx = await givenRotation(3)
  const users = await Promise.all(Array.from({ length: 4 }, () => givenUser(ctx)))
  await Promise.all([
    resealSecrets(ctx, 1),
    ...users.map(async (user, n) => {
      await givenConnectedApps(ctx, user, [`late${n}`])
      await writeArchive(ctx, user.userId)
    }),
    sendDueNotices(ctx, NOTICE_KINDS),
  ])
  await ctx.settle()
  configure(ctx, NEW)
  const counts = await resealSecrets(ctx)
  expect(Object.values(counts).map(({ resealed, unopenable }) => resealed + unopenable)).toEqual(
    Object.keys(SEALED).map(() => 0),
  )
  expect(counts.application_secrets.already_newest).toBe(7)
  expect(counts.archive_keys.already_newest).toBe(7)
})

test('every column of bytes is resealed, or holds hashes or MACs that cannot be', async () => {
  const ctx = await testContext()
  const columns = await ctx.db.$queryRaw<{ name: string }[]>`
    SELECT table_name || '.' || column_name AS name FROM information_schema.columns
    JOIN pg_tables ON tablename = table_name WHERE schemaname = 'public' AND data_type = 'bytea'`
  const sealed = Object.values(SEALED).map(({ table, column }) => `${table}.${column}`)
  const names = columns.map(({ name }) => name).filter((name) => !sealed.some((one) => one === name))
  expect(names.sort()).toEqual([
    'access_tokens.token_hash',
    'email_change_requests.code_mac',
    'ended_credentials.credential_hash',
    'ended_external_ids.external_id_mac',
    'idempotency_keys.body_mac',
    'mail_deliveries.address_mac',
    'service_tokens.token_hash',
    'sign_ins.device',
  ])
})
