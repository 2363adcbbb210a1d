import { decodeJwt } from 'jose'
import { beforeEach, expect, test } from 'vitest'
import { NOTICE_KINDS } from '@/domain/notices'
import { type Caller, call, hour, minute, withdraw } from '@/testing/api-calls'
import { givenCaller, givenPage, givenServiceOf } from '@/testing/callers'
import { asUser, pass } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import { acceptOutsideToken, givenService, mailsTo, OUTSIDE_TOKEN, type Service } from '@/testing/service'
import { atStatement } from '@/testing/statements'
import type { Context } from '../context'
import { sendDueNotices } from '../mail/notice-queue'
import type { Message } from '../ports'
import { createProcess } from '../process'
import { listReceipts } from './receipts/receipts'
import { withdrawAccount, withdrawAgain, withdrawByOperator } from './withdraw-account'

const confirmation = 'DELETE_MY_ACCOUNT'
type Confirmation = Extract<Message, { template: 'account-withdrawal-started' }>

let ctx: Service
let caller: Caller

beforeEach(async () => {
  ctx = await givenService()
  caller = await givenCaller(ctx)
})

const confirmations = () =>
  mailsTo(ctx, caller.email, 'account-withdrawal-started').map(({ message }) => message as Confirmation)

const withdrawal = () => ctx.db.withdrawal.findFirstOrThrow({ where: { userId: caller.userId } })

async function acceptance() {
  const { receipts } = await listReceipts(ctx, { withdrawalId: (await withdrawal()).id })
  return receipts.find(({ kind }) => kind === 'acceptance')?.receipt
}

/** The store of the ledger takes no line until the returned function is called. */
function loseStore(): () => void {
  const { add } = ctx.ledger
  ctx.ledger.add = (name, content) =>
    /\.ndjson$/.test(name) ? Promise.reject(new Error('the store is away')) : add(name, content)
  return () => {
    ctx.ledger.add = add
  }
}

const WAYS: Record<string, () => Promise<unknown>> = {
  'settings, with a session': async () =>
    withdrawAccount(await asUser(ctx, caller), { userId: caller.userId, confirmation }),
  'settings, with a page token': async () =>
    withdraw(caller, await givenPage(ctx, caller, { authenticated_at: ctx.clock.now().toISOString() })),
  'program, with an access token': () => withdraw(caller),
  'program, with a token of another issuer': () => {
    acceptOutsideToken(ctx, caller)
    return withdraw(caller, { token: OUTSIDE_TOKEN })
  },
  async 'mail, with the link of the page /delete-account'() {
    await call({ userId: '' }, 'requestWithdrawal', { body: { email: caller.email } })
    await ctx.settle()
    const [letter] = mailsTo(ctx, caller.email, 'withdrawal-requested')
    const link = letter?.message.template === 'withdrawal-requested' ? letter.message.link : ''
    const token = link.split('#token=')[1] ?? ''
    return call({ userId: '', token }, 'confirmRequestedWithdrawal', { body: { confirmation } })
  },
  'service, with its token': async () =>
    (await givenServiceOf(ctx, caller))('withdrawUser', { confirmation, requested_by: 'support' }),
  'support, with the command': () => withdrawByOperator(ctx, { userId: caller.userId, confirmation }),
}

/** The mail server defers the first try of every confirmation. */
function deferConfirmations(): void {
  const { send } = ctx.mail
  const deferred = new Set<string>()
  ctx.mail.send = async (mail) => {
    if (!mail.message.template.startsWith('account-withdrawal') || deferred.has(mail.id)) return send(mail)
    deferred.add(mail.id)
    return 'deferred'
  }
}

/** The next try of what was deferred. */
async function tryAgain(of: Service = ctx): Promise<void> {
  await of.settle()
  of.clock.advance(hour)
  await sendDueNotices(of, NOTICE_KINDS)
}

test.each(Object.keys(WAYS))('B110 the confirmation tells when and how it was asked for: %s', async (way) => {
  for (const isDeferred of [false, true]) {
    caller = await givenCaller(ctx)
    if (isDeferred) deferConfirmations()
    await WAYS[way]?.()
    await tryAgain()
    // The command leaves the first try to the sweep.
    await tryAgain()
    const { startedAt } = await withdrawal()
    expect(confirmations()).toMatchObject([
      { way: way.split(',')[0], requestedAt: startedAt, receipt: await acceptance() },
    ])
  }
})

test('B110 a row of the last release, which does not say how, is told as by the owner, and its instances read ours', async () => {
  deferConfirmations()
  await withdraw(caller)
  await ctx.settle()
  const row = await ctx.db.notice.findFirstOrThrow({ where: { userId: caller.userId } })
  const opened = JSON.parse(String(ctx.secrets.open(Buffer.from(row.sealed ?? []))))
  expect(opened).toMatchObject({ askedBy: 'person', way: 'program' })
  const { way: _, ...earlier } = opened
  const sealed = new Uint8Array(ctx.secrets.seal(JSON.stringify(earlier)))
  await ctx.db.notice.update({ where: { id: row.id }, data: { sealed } })
  await tryAgain()
  expect(confirmations()).toMatchObject([{ way: 'person' }])
})

test('B110 the confirmation names what the person chose to keep, and until when', async () => {
  for (const isDeferred of [false, true]) {
    caller = await givenCaller(ctx)
    if (isDeferred) deferConfirmations()
    const chosen = { analytics: true, transaction_history: true }
    await withdraw(caller, { body: { confirmation, data_retention: chosen } })
    await tryAgain()
    const { purgeDueAt: until } = await withdrawal()
    expect(confirmations()).toMatchObject([{ kept: { chosen: ['analytics', 'transaction_history'], days: 30, until } }])
  }
})

test.each([true, false])(
  'B111 the confirmation carries the acceptance, and waits for its line (LEDGER_BEFORE_ANSWER %s)',
  async (waitsForLedger) => {
    ctx.waitsForLedger = waitsForLedger
    const { userId } = caller
    const comeBack = loseStore()
    const outcome = await outcomeOf(withdrawAccount(await asUser(ctx, caller), { userId, confirmation }))
    expect(outcome).toBe(waitsForLedger ? 'SERVER_002' : 'accepted')
    await ctx.settle()
    expect(confirmations()).toEqual([])
    comeBack()
    await tryAgain()
    const [{ receipt } = { receipt: null }, ...more] = confirmations()
    expect(more).toEqual([])
    expect(receipt).toBe(await acceptance())
    const { id } = await withdrawal()
    expect(decodeJwt(receipt ?? '')).toMatchObject({ kind: 'acceptance', sub: id, log: { seq: expect.any(Number) } })
    for (const text of [JSON.stringify(ctx.warnings), receipt ?? '']) {
      expect(text).not.toContain(caller.email)
      expect(text).not.toContain('wst_')
    }
  },
)

test('B111 answer and confirmation have one acceptance, which is signed once', async () => {
  let signed = 0
  const counting = atStatement(ctx, 'keep-acceptance', (run) => {
    signed++
    return run()
  })
  const { receipt } = await withdrawAccount(await asUser(counting, caller), { userId: caller.userId, confirmation })
  await ctx.settle()
  expect(confirmations()).toMatchObject([{ receipt }])
  expect(signed).toBe(1)
  expect(ctx.process.acceptances.size).toBe(0)
})

test('B111 the confirmation of a process that died before it went, or before the line stood, goes once, with the acceptance', async () => {
  const { userId } = caller
  ctx.waitsForLedger = false
  // What follows the commit is lost with the process.
  const dying: Context = { ...(await asUser(ctx, caller)), background: () => {} }
  await withdrawAccount(dying, { userId, confirmation })
  expect(await withdrawal()).toMatchObject({ ledgeredAt: null })
  const next = { ...ctx, process: createProcess() }
  await Promise.all([sendDueNotices(next, NOTICE_KINDS), sendDueNotices(ctx, NOTICE_KINDS)])
  expect(confirmations()).toEqual([])
  await tryAgain(next)
  await tryAgain()
  expect(confirmations()).toMatchObject([{ receipt: await acceptance() }])
})

test('B111 where the acceptance cannot be made, three tries wait for it, and the fourth goes without the file', async () => {
  ctx.waitsForLedger = false
  loseStore()
  await withdraw(caller)
  await ctx.settle()
  for (const ms of [2 * minute, 10 * minute]) {
    ctx.clock.advance(ms)
    await sendDueNotices(ctx, NOTICE_KINDS)
    expect(confirmations()).toEqual([])
  }
  await tryAgain()
  expect(confirmations()).toMatchObject([{ receipt: null }])
  await tryAgain()
  expect(confirmations()).toHaveLength(1)
})

test('B111 a store that does not answer holds a try up for less than the lease of its sender', async () => {
  ctx.waitsForLedger = false
  const { promise: held, resolve: answer } = Promise.withResolvers<boolean>()
  ctx.ledger.add = () => held
  await withdraw(caller)
  await ctx.db.notice.updateMany({ where: { userId: caller.userId }, data: { attempts: 3 } })
  ctx.clock.advance(hour)
  await sendDueNotices(ctx, NOTICE_KINDS)
  expect(confirmations()).toMatchObject([{ receipt: null }])
  answer(true)
})

test('B111 a withdrawal that the ledger repeats sends no confirmation', async () => {
  const entry = {
    withdrawalId: `wd_${caller.userId.slice(4)}`,
    pseudonym: '',
    startedAt: ctx.clock.now().toISOString(),
    keeps: { analytics: false, auditLogs: false, transactionHistory: false },
  }
  expect(await withdrawAgain(ctx, caller.userId, entry)).toBe(true)
  await pass(ctx, 24 * hour)
  expect(mailsTo(ctx, caller.email)).toEqual([])
})
