import { randomBytes } from 'node:crypto'
import type { Input } from '@/contract/define'
import type { Step, withdrawAccount as withdrawContract } from '@/contract/withdrawal'
import { writeArchive } from '@/domain/applications/archives'
import { connectApp } from '@/domain/applications/connect'
import { type AppChanges, registerApp } from '@/domain/applications/manage'
import { authenticateWithdrawn } from '@/domain/withdrawal/authenticate-withdrawn'
import { getWithdrawalStatus } from '@/domain/withdrawal/get-withdrawal-status'
import type { LedgerLine } from '@/domain/withdrawal/ledger/erasure-ledger'
import { createStatusToken } from '@/domain/withdrawal/status-token'
import { withdrawAccount } from '@/domain/withdrawal/withdraw-account'
import { asUser, givenUser, type TestContext, type TestUser, testContext } from './domain'

// Withdrawals, the applications that they tell, and the ledger that names them.

/** A context whose erasure ledger is empty, though the tests of the file share the database. */
export async function givenLedger(): Promise<TestContext> {
  const ctx = await testContext()
  await ctx.db.erasureLedgerBatch.deleteMany()
  await ctx.db.withdrawal.updateMany({ data: { ledgeredAt: ctx.clock.now(), ledgerSeq: null } })
  const origin = randomBytes(8).toString('hex')
  await ctx.db.erasureLedgerHead.updateMany({ data: { origin, seq: 0, hash: '', batchSeq: 0, at: null } })
  return ctx
}

/** Runs `meanwhile`, then puts the database back to where it was, as a backup or a replica that lagged does. */
export async function restored<T>(ctx: TestContext, meanwhile: () => Promise<T>): Promise<T> {
  const ledger = await ctx.db.erasureLedgerHead.findFirstOrThrow()
  const [users, keys] = [await ctx.db.user.findMany(), await ctx.db.signingKey.findMany()]
  const known = (await ctx.db.withdrawal.findMany()).map(({ id }) => id)
  const done = await meanwhile()
  await ctx.settle()
  await ctx.db.withdrawal.deleteMany({ where: { id: { notIn: known } } })
  await ctx.db.outboxEvent.deleteMany()
  await ctx.db.user.deleteMany()
  await ctx.db.user.createMany({ data: users })
  await ctx.db.signingKey.deleteMany({ where: { number: { notIn: keys.map(({ number }) => number) } } })
  await ctx.db.erasureLedgerHead.updateMany({ data: ledger })
  ctx.process.signing.readAt = Number.NEGATIVE_INFINITY
  return done
}

/** As a share that is no longer mounted, until the returned function is called. */
export function unmountLedger({ ledgered }: Pick<TestContext, 'ledgered'>): () => void {
  const mounted = [...ledgered]
  ledgered.clear()
  return () => {
    for (const [name, content] of mounted) ledgered.set(name, content)
  }
}

/** The lines of the erasure ledger of this context. */
export const ledgerLines = ({ ledgered }: TestContext): LedgerLine[] =>
  [...ledgered]
    .filter(([name]) => name.endsWith('.ndjson'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, lines]) => lines.trimEnd().split('\n'))
    .map((line) => JSON.parse(line))

/** Each application calls the user by the address, and shares an item with the service. */
export async function givenConnectedApps(ctx: TestContext, { userId, email }: TestUser, names: string[]) {
  for (const name of names) {
    const app = { name, endpoint: `https://${name}.test/hook`, secret: 'whsec_c2VjcmV0' }
    const { appId } = await registerApp(ctx, app)
    await connectApp(ctx, { userId, appId, subject: `${email} at ${name}` })
    const item = { id: `shr_${appId}`, userId, appId, content: email, sharedAt: ctx.clock.now() }
    await ctx.db.sharedItem.create({ data: item })
  }
}

/** An application that is told about everyone, and reports later unless it is said otherwise. Other tests of the file are told to it too. */
export async function givenParticipant(ctx: TestContext, name: string, settings: AppChanges = {}): Promise<string> {
  const { appId } = await registerApp(ctx, {
    name,
    endpoint: `https://${name}.test/hook`,
    secret: 'whsec_c2VjcmV0',
    audience: 'everyone',
    acknowledges: 'later',
    ...settings,
  })
  return appId
}

/** The person withdraws the account, and what follows at once has been done. */
export async function withdrawAs(
  ctx: TestContext,
  user: TestUser,
  choices: Omit<Input<typeof withdrawContract>, 'confirmation' | 'userId'> = {},
) {
  const input = { userId: user.userId, confirmation: 'DELETE_MY_ACCOUNT' as const, ...choices }
  const answer = await withdrawAccount(await asUser(ctx, user), input)
  await ctx.settle()
  return { id: answer.withdrawal_id, ...answer }
}

/** What the status token of a withdrawal reads. */
export async function readProgress(ctx: TestContext, userId: string, withdrawalId: string) {
  const path = { userId, withdrawalId }
  const actor = await authenticateWithdrawn(ctx, { token: createStatusToken(ctx, withdrawalId) }, path, 'reads')
  if (!actor) throw new Error('the status token opens nothing')
  return getWithdrawalStatus({ ...ctx, actor, ip: '', userAgent: '', buckets: [] }, path)
}

/** A user who withdraws, with an archive, feedback that contains the address, and connected applications. */
export async function givenWithdrawal(ctx: TestContext, apps: string[] = []) {
  const user = await givenUser(ctx)
  const { userId, email } = user
  await givenConnectedApps(ctx, user, apps)
  await writeArchive(ctx, userId)
  const { id: withdrawalId } = await withdrawAs(ctx, user, { reason: 'other', feedback: email })
  return { userId, email, withdrawalId }
}

export const withdrawalOf = ({ db }: Pick<TestContext, 'db'>, id: string) =>
  db.withdrawal.findUniqueOrThrow({ where: { id } })

export const stepOf = ({ db }: Pick<TestContext, 'db'>, withdrawalId: string, step: Step) =>
  db.deletionStep.findUniqueOrThrow({ where: { withdrawalId_step: { withdrawalId, step } } })

/** Deletes the withdrawals and the applications of earlier tests, which share the database of the file. */
export async function clearWithdrawals({ db }: Pick<TestContext, 'db'>): Promise<void> {
  await db.withdrawal.deleteMany()
  await db.appConnection.deleteMany()
  await db.connectedApp.deleteMany()
}
