import { createHash } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { createSecrets } from '@/server/adapters/secrets'
import { asUser, givenUser, passDays, runDueWork, type TestContext, testContext } from '@/testing/domain'
import { tablesWith } from '@/testing/outcomes'
import { givenLedger, ledgerLines, restored, withdrawAs } from '@/testing/withdrawals'
import { addTransaction } from '../../applications/transactions'
import { day } from '../../limits/durations'
import { purgeRetainedData } from '../purge-retained-data'
import { readSigningKeys, rotateSigningKey, verifyJws } from '../receipts/signing-keys'
import { replayErasureLedger } from '../replay-erasure-ledger'
import { withdrawAccount } from '../withdraw-account'
import { acceptOldDatabase } from './adopt-erasure-ledger'
import { compareWithLedger } from './compare-with-ledger'
import { signedLedgerHead, writeErasureLedger } from './erasure-ledger'
import { trimErasureLedger } from './trim-erasure-ledger'

const confirmation = 'DELETE_MY_ACCOUNT' as const

let ctx: TestContext

beforeEach(async () => {
  ctx = await givenLedger()
})

async function givenLeaver(of = ctx) {
  const user = await givenUser(of)
  return { ...user, id: (await withdrawAs(of, user)).id }
}

/** The withdrawal of each person is a batch of its own. */
async function givenLeavers(count: number, of = ctx) {
  const leavers: Awaited<ReturnType<typeof givenLeaver>>[] = []
  for (let n = 0; n < count; n++) leavers.push(await givenLeaver(of))
  return leavers
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url')
const batchNames = () => [...ctx.ledgered.keys()].filter((name) => name.endsWith('.ndjson')).sort()
const isLedgerAhead = async () => (await compareWithLedger(ctx)).state === 'behind'

test('the ledger names a withdrawal and its times, and no person', async () => {
  const user = await givenUser(ctx)
  const { withdrawal_id } = await withdrawAs(ctx, user, { data_retention: { audit_logs: true } })
  const entry = ledgerLines(ctx).find(({ withdrawalId }) => withdrawalId === withdrawal_id)
  expect(entry).toEqual({
    seq: 1,
    prev: '',
    key: expect.any(String),
    withdrawalId: withdrawal_id,
    pseudonym: expect.any(String),
    startedAt: '2026-11-20T09:00:00.000Z',
    keeps: { analytics: false, auditLogs: true, transactionHistory: false },
  })
  for (const text of [user.userId, user.email, '"Ada']) expect([...ctx.ledgered.values()].join('')).not.toContain(text)
})

test('concurrent withdrawals are in the ledger once each, and each line holds the hash of the line before', async () => {
  const users = await Promise.all(Array.from({ length: 12 }, () => givenUser(ctx)))
  const actors = await Promise.all(users.map((user) => asUser(ctx, user)))
  const answers = await Promise.all(
    actors.map((actor) => withdrawAccount(actor, { userId: actor.actor.userId, confirmation })),
  )
  await ctx.settle()
  const lines = ledgerLines(ctx)
  const ids = lines.map(({ withdrawalId }) => withdrawalId)
  expect(ids.sort()).toEqual(answers.map(({ withdrawal_id }) => withdrawal_id).sort())
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_line, index) => index + 1))
  for (const [index, line] of lines.entries()) {
    expect(line.prev).toBe(index === 0 ? '' : sha256(JSON.stringify(lines[index - 1])))
    expect(await ctx.db.withdrawal.findUniqueOrThrow({ where: { id: line.withdrawalId } })).toMatchObject({
      ledgerSeq: line.seq,
      ledgerHash: sha256(JSON.stringify(line)),
    })
  }
})

test('F33 several instances write one chain', async () => {
  const other = { ...(await testContext()), ledger: ctx.ledger, ledgered: ctx.ledgered }
  await Promise.all([givenLeavers(6), givenLeavers(6, other)])
  expect(ledgerLines(ctx).map(({ seq }) => seq)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1))
  expect(await replayErasureLedger(ctx)).toMatchObject({ lines: 12, verified: true, replayed: 0, problems: [] })
})

test('the next run stores what a killed process did not, and never overwrites other lines', async () => {
  const { put } = ctx.ledger
  ctx.waitsForLedger = false
  ctx.ledger.put = () => Promise.reject(new Error('killed'))
  const { id } = await givenLeaver()
  expect(ledgerLines(ctx)).toEqual([])
  expect(await ctx.db.withdrawal.findUniqueOrThrow({ where: { id } })).toMatchObject({ ledgerSeq: 1 })
  ctx.ledger.put = put
  await writeErasureLedger(ctx)
  expect(ledgerLines(ctx)).toMatchObject([{ seq: 1, withdrawalId: id }])
  expect(await ctx.db.erasureLedgerBatch.count()).toBe(0)

  const [name = ''] = batchNames()
  await ctx.db.erasureLedgerBatch.create({ data: { firstSeq: 1, lines: 'other lines' } })
  await expect(writeErasureLedger(ctx)).rejects.toMatchObject({ code: 'ledger_ahead' })
  expect(ctx.ledgered.get(name)).toContain(id)
})

test('F43 a line that was on its way while a replica took over neither replaces another line nor is taken for it', async () => {
  ctx.waitsForLedger = false
  const { put } = ctx.ledger
  ctx.ledger.put = () => Promise.reject(new Error('slow'))
  await givenLeaver()
  ctx.ledger.put = put
  const batch = await ctx.db.erasureLedgerBatch.findFirstOrThrow()

  // The new primary has given the place to the line of somebody else, which waits or is stored already.
  const { add } = ctx.ledger
  ctx.ledger.add = async (name, content) => {
    await ctx.db.erasureLedgerBatch.update({ where: { firstSeq: batch.firstSeq }, data: { lines: 'of another\n' } })
    return add.call(ctx.ledger, name, content)
  }
  await writeErasureLedger(ctx).catch(() => {})
  expect(await ctx.db.erasureLedgerBatch.findMany()).toMatchObject([{ lines: 'of another\n' }])
  expect(ctx.process.ledger.needsComparison).toBe(true)

  const [name = ''] = batchNames()
  ctx.ledgered.delete(name)
  ctx.process.ledger.newest = undefined
  ctx.ledger.add = async (name, content) => {
    ctx.ledgered.set(name, 'was quicker\n')
    return add.call(ctx.ledger, name, content)
  }
  await expect(writeErasureLedger(ctx)).rejects.toMatchObject({ code: 'ledger_ahead' })
  expect(ctx.ledgered.get(name)).toBe('was quicker\n')
  await ctx.db.erasureLedgerBatch.deleteMany()
})

test.each([3, 40])(
  'F27 the ledger withdraws again everybody whom a backup brings back %i days later',
  async (later) => {
    const user = await givenUser(ctx)
    const bystander = await givenUser(ctx)
    const { withdrawal_id } = await restored(ctx, async () => {
      const started = await withdrawAs(ctx, user)
      await passDays(ctx, later)
      return started
    })
    // A blocker does not hold back a withdrawal that has already begun.
    const transaction = { userId: user.userId, title: 'A book', ip: '192.0.2.1' }
    await addTransaction(ctx, { ...transaction, status: 'pending' })

    expect(await replayErasureLedger(ctx)).toMatchObject({ lines: 1, replayed: 1, already_gone: 0 })
    expect(await replayErasureLedger(ctx)).toMatchObject({ lines: 1, replayed: 0, already_gone: 1 })
    expect(
      await ctx.db.auditEvent.findMany({ where: { userId: user.userId, action: 'account.withdrawn' } }),
    ).toMatchObject([{ actor: 'system', ip: null, subjectId: withdrawal_id }])
    expect(await ctx.db.notice.count({ where: { withdrawalId: withdrawal_id } })).toBe(0)
    const mails = ctx.mailbox.length
    // Purge and due work may run in either order.
    if (later > 30) await purgeRetainedData(ctx)
    await runDueWork(ctx)
    expect(await ctx.db.user.count({ where: { id: user.userId } })).toBe(0)
    expect(await ctx.db.user.count({ where: { id: bystander.userId } })).toBe(1)
    const again = await ctx.db.withdrawal.findUniqueOrThrow({ where: { id: withdrawal_id } })
    expect(again.completedAt).not.toBeNull()
    expect(again.userId).toBe(later > 30 ? null : user.userId)
    if (later > 30) expect(await tablesWith(ctx, user.userId)).toEqual([])
    expect(again.startedAt.toISOString()).toBe('2026-11-20T09:00:00.000Z')
    expect(ctx.mailbox.length).toBe(mails)
    // Its line is already in the ledger.
    expect(again.ledgerSeq).toBe(1)
    expect(ledgerLines(ctx)).toHaveLength(1)
  },
)

test('F31 a database older than its ledger is recognised until the replay, which leaves evidence and continues the chain', async () => {
  await givenLeaver()
  expect(await isLedgerAhead()).toBe(false)
  const user = await givenUser(ctx)
  const returner = await givenUser(ctx, `back-${user.email}`)
  await restored(ctx, () => withdrawAs(ctx, user))
  // Somebody registers with the same address before the replay.
  const again = (await givenUser(ctx, `new-${user.email}`)).userId
  expect(await isLedgerAhead()).toBe(true)
  const report = await replayErasureLedger(ctx)
  expect(report).toEqual({
    lines: 2,
    verified: true,
    replayed: 1,
    already_gone: 1,
    unknown_keys: 0,
    problems: [],
    evidence: expect.stringMatching(/^erasure-ledger\/\w+-replays\/2026-11-20T09-00-00.000Z\.json$/),
  })
  expect(JSON.parse(ctx.ledgered.get(report.evidence) ?? '')).toMatchObject({ replayed: 1, seq: 2 })
  expect(await isLedgerAhead()).toBe(false)
  for (const id of [again, returner.userId]) {
    expect(await ctx.db.user.findUniqueOrThrow({ where: { id } })).toMatchObject({ withdrawnAt: null })
  }
  await givenLeaver()
  expect(await replayErasureLedger(ctx)).toMatchObject({ lines: 3, verified: true, already_gone: 3 })
})

test('the operator may accept an old database, and the chain continues after the lines that it does not know', async () => {
  await restored(ctx, () => givenLeavers(2))
  await acceptOldDatabase(ctx)
  expect(await isLedgerAhead()).toBe(false)
  await givenLeaver()
  expect(ledgerLines(ctx).map(({ seq }) => seq)).toEqual([1, 2, 3])
})

const endOf = ([name = '']: string[]) => `${name.slice(0, name.lastIndexOf('/'))}-end.json`

const change = (name = '', by: (lines: string) => string) => ctx.ledgered.set(name, by(ctx.ledgered.get(name) ?? ''))
const inAnotherYear = (lines: string) => lines.replace('"startedAt":"2026', '"startedAt":"2025')

/** Kinds of damage to the lines, and the sentence of the replay for each. */
const DAMAGE: [what: string, damage: (names: string[]) => unknown, says: RegExp][] = [
  ['a changed byte in a line', ([, name]) => change(name, inAnotherYear), /^Line 3 does not follow the line before it/],
  [
    'a changed byte in the last line',
    (names) => change(names.at(-1), inAnotherYear),
    /^Line 4 is not the line that its signed end names/,
  ],
  ['a dropped line', ([, name = '']) => ctx.ledgered.delete(name), /^Line 2 is missing\.$/],
  [
    'a truncated end',
    (names) => ctx.ledgered.delete(names.at(-1) ?? ''),
    /^The ledger ends at line 3, but its signed end names line 4\.$/,
  ],
  ['half a line', ([, name]) => change(name, (lines) => lines.slice(0, 40)), /^Line 2 cannot be read\.$/],
  [
    'two lines that changed places',
    ([, second = '', third = '']) => {
      const lines = ctx.ledgered.get(second) ?? ''
      ctx.ledgered.set(second, ctx.ledgered.get(third) ?? '')
      ctx.ledgered.set(third, lines)
    },
    /^Line 2 is missing\.$/,
  ],
  ['a doubled line', ([, name]) => change(name, (lines) => lines.repeat(2)), /^Line 2 stands behind line 2\.$/],
  [
    'an end that somebody else signed',
    (names) => {
      // Changes the first character, because the last one of a signature has unused bits.
      const signature = /(?<=\.)[^."]+(?=","keys")/
      const changed = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)
      change(endOf(names), (end) => end.replace(signature, changed))
    },
    /^The signed end of the ledger is not genuine\.$/,
  ],
]

test.each(DAMAGE)(
  'F33 the replay finds %s, replays what it can read, and keeps the service closed',
  async (_what, damage, says) => {
    const users = await Promise.all(Array.from({ length: 4 }, () => givenUser(ctx)))
    await restored(ctx, async () => {
      for (const user of users) await withdrawAs(ctx, user)
    })
    damage(batchNames())
    const report = await replayErasureLedger(ctx)
    expect(report).toMatchObject({ verified: false, unknown_keys: 0, error: expect.stringContaining('not whole') })
    expect(report.problems[0]).toMatch(says)
    expect(report.replayed).toBeGreaterThanOrEqual(3)
    expect(await isLedgerAhead()).toBe(true)
  },
)

test('F33 the database itself tells of lines at the end that are gone with their signature', async () => {
  await givenLeavers(3)
  const names = batchNames()
  for (const name of [...names.slice(1), endOf(names)]) ctx.ledgered.delete(name)
  const { verified, problems } = await replayErasureLedger(ctx)
  expect({ verified, problems }).toEqual({
    verified: false,
    problems: ['The ledger ends at line 1, but the database knows line 3.'],
  })
})

test('a line of an unknown secret is counted and fails the replay, and with the secret it finds its person', async () => {
  const user = await givenUser(ctx)
  await restored(ctx, () => withdrawAs(ctx, user))
  const auth = ['auth-secret-for-tests']
  ctx.secrets = createSecrets({ auth, code: ['a-newer-code-secret'] })
  const report = await replayErasureLedger(ctx)
  expect(report).toMatchObject({
    verified: true,
    replayed: 0,
    unknown_keys: 1,
    error: expect.stringContaining('CODE_SECRET'),
  })
  expect(await isLedgerAhead()).toBe(true)
  ctx.secrets = createSecrets({ auth, code: ['a-newer-code-secret', 'code-secret-for-tests'] })
  expect(await replayErasureLedger(ctx)).toMatchObject({ verified: true, replayed: 1, unknown_keys: 0 })
  expect(await isLedgerAhead()).toBe(false)
})

test('the replay restores a signing key that was made after the backup', async () => {
  await givenLeaver()
  const signed = await restored(ctx, async () => {
    await rotateSigningKey(ctx)
    ctx.clock.advance(day + 1)
    await givenLeaver()
    return signedLedgerHead(ctx)
  })
  expect(verifyJws(await readSigningKeys(ctx), 'erasure-log+jwt', signed)).toEqual({ wrong: 'unknown_key' })
  expect(await replayErasureLedger(ctx)).toMatchObject({ verified: true })
  expect(verifyJws(await readSigningKeys(ctx), 'erasure-log+jwt', signed)).toMatchObject({ claims: { lines: 2 } })
})

test('a trim drops lines that no backup needs and keeps the newest, and the rest is still verified', async () => {
  await givenLeavers(2)
  ctx.clock.advance(10 * day)
  await givenLeavers(2)
  expect(await trimErasureLedger(ctx, new Date('2026-11-20T10:00:00.000Z'))).toEqual({ dropped: 0 })
  expect(await trimErasureLedger(ctx, new Date('2026-11-22T10:00:00.000Z'))).toEqual({ dropped: 2 })
  expect(ledgerLines(ctx).map(({ seq }) => seq)).toEqual([3, 4])
  expect(await replayErasureLedger(ctx)).toMatchObject({ lines: 2, verified: true })
  expect(await trimErasureLedger(ctx, new Date('2027-11-22T10:00:00.000Z'))).toEqual({ dropped: 1 })
  expect(await replayErasureLedger(ctx)).toMatchObject({ lines: 1, verified: true })
  expect(await isLedgerAhead()).toBe(false)
  await givenLeaver()
  expect(await replayErasureLedger(ctx)).toMatchObject({ lines: 2, verified: true })
})

test('the lines that an earlier release wrote into its file are replayed too', async () => {
  const user = await givenUser(ctx)
  const line = await restored(ctx, async () => {
    await withdrawAs(ctx, user)
    const [{ seq, prev, key, ...entry }] = ledgerLines(ctx) as [ReturnType<typeof ledgerLines>[number]]
    ctx.ledgered.clear()
    return JSON.stringify(entry)
  })
  ctx.ledger.earlierLines = async function* () {
    yield line
    yield line.slice(0, 30)
  }
  expect(await replayErasureLedger(ctx)).toMatchObject({ lines: 1, verified: true, replayed: 1 })
  expect(await ctx.db.user.findUniqueOrThrow({ where: { id: user.userId } })).not.toMatchObject({ withdrawnAt: null })
})
