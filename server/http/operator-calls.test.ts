import { beforeEach, expect, test } from 'vitest'
import { adminOperations } from '@/contract/operations'
import { OPERATOR_OPERATIONS } from '@/contract/operator-operations'
import { setRole } from '@/domain/accounts/operators'
import { getApp, setApp } from '@/domain/applications/manage'
import { addTransaction } from '@/domain/applications/transactions'
import { actsOnApp } from '@/domain/audit'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { findBlockers } from '@/domain/withdrawal/blockers'
import { watchAccount } from '@/domain/withdrawal/show-account'
import { showWithdrawal } from '@/domain/withdrawal/show-withdrawal'
import { type Asking, call, day } from '@/testing/api-calls'
import { givenServiceToken, givenToken } from '@/testing/callers'
import { givenSession, givenUser, pass, runDueWork, type TestContext, type TestUser } from '@/testing/domain'
import { installed } from '@/testing/install-context'
import { givenParticipant, givenWithdrawal, withdrawAs } from '@/testing/withdrawals'

let ctx: TestContext
let operator: TestUser
let appId: string
let withdrawalId: string
let taskId: string
let debtor: TestUser
let transactionId: string

beforeEach(async () => {
  ctx = await installed()
  operator = await givenUser(ctx)
  await setRole(ctx, { userId: operator.userId, role: 'operator' })
  appId = await givenParticipant(ctx, 'shop', { events: ['account.withdrawal_started'] })
  withdrawalId = (await givenWithdrawal(ctx)).withdrawalId
  taskId = (await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId, appId } })).id
  debtor = await givenUser(ctx)
  transactionId = await holdBack(debtor)
})

/** A pending transaction and a blocker that a service has pushed. Returns the transaction. */
async function holdBack({ userId }: TestUser): Promise<string> {
  await ctx.db.user.update({ where: { id: userId }, data: { externalId: `customer of ${userId}` } })
  const billing = await givenServiceToken(ctx, ['users:write'], day, { name: 'billing' })
  const ids = { externalId: encodeURIComponent(`customer of ${userId}`), key: 'invoice-4711' }
  await call(billing, 'putBlocker', { body: { code: 'unpaid_invoice', title: 'Invoice 4711 is not paid' }, ids })
  return addTransaction(ctx, {
    userId,
    status: 'pending',
    title: 'Order 7',
    amount: { minor_units: 700, currency: 'EUR' },
    ip: '',
  })
}
const blockerOf = ({ userId }: TestUser) => ({ user_id: userId, source: 'billing', key: 'invoice-4711' })

/** What the page of a signed-in person sends. */
const press = (person: { userId: string; sessionId: string }, operation: string, asking: Asking = {}) =>
  call({ userId: '', token: createSessionToken(ctx, person.sessionId).token }, operation, {
    ids: { appId, withdrawalId, taskId, transactionId },
    ...asking,
  })
const pressAll = async (person: TestUser) => {
  const codes: Record<string, string> = {}
  for (const [name, { example }] of Object.entries(OPERATOR_OPERATIONS)) {
    const bodies: Record<string, object> = {
      lookUp: { text: operator.email },
      endBlocker: blockerOf(debtor),
      endAccountSessions: { user_id: debtor.userId },
    }
    const body = bodies[name] ?? ('body' in example ? example.body : undefined)
    codes[name] = (await press(person, name, { body })).code
  }
  return codes
}
const codesOf = (code: string) => Object.fromEntries(Object.keys(OPERATOR_OPERATIONS).map((name) => [name, code]))
const audited = (actor: string, userId: string) =>
  ctx.db.auditEvent.findMany({ where: { actor, userId }, orderBy: { id: 'asc' } })

test('the buttons of /admin work with the page token of an operator alone, and the operator stands in the audit log', async () => {
  expect(await pressAll(await givenUser(ctx))).toEqual(codesOf('AUTH_002'))
  const { token } = await givenToken(ctx, operator.userId)
  expect((await call({ userId: '', token }, 'retryTask', { ids: { taskId } })).code).toBe('AUTH_002')
  expect((await press(operator, 'retryTask', { scope: 'account:manage' })).code).toBe('AUTH_002')
  ctx.clock.advance(3_600_000)
  await ctx.db.session.update({ where: { id: operator.sessionId }, data: { authenticatedAt: ctx.clock.now() } })
  ctx.apps.answer = async () => ({ status: 503 })
  await runDueWork(ctx)
  // The application is waived before its task is retried.
  expect(await pressAll(operator)).toEqual({ ...codesOf('accepted'), retryTask: 'TASK_002' })
  const actions = (await audited('operator', operator.userId)).map(({ action }) => action)
  const acts = ['app.changed', 'app.secret_rotated', 'events.resent', 'task.waived', 'withdrawal.retried']
  expect(actions).toEqual(expect.arrayContaining(['account.looked_up', ...acts]))
  await setRole(ctx, { userId: operator.userId, role: null })
  expect(await pressAll(operator)).toEqual(codesOf('AUTH_002'))
})

test('a page of /admin opens no other operation of the admin API', async () => {
  for (const { name } of adminOperations) {
    if (name in OPERATOR_OPERATIONS) continue
    expect([name, (await press(operator, name)).code]).toEqual([name, 'AUTH_002'])
  }
})

test('B126 an operator whose sign-in is old can read, and is refused before anything changes or ends', async () => {
  const before = await getApp(ctx, { appId })
  // Whoever found the browser signed in may look, ping and have tried again what is tried by itself.
  const open = { lookUp: 'accepted', pingApp: 'accepted', retryTask: 'accepted', retryWithdrawal: 'accepted' }
  const refused = { ...codesOf('REAUTH_001'), ...open }
  ctx.clock.advance(600_001)
  expect(await pressAll(operator)).toEqual(refused)
  // A confirmation for something else is none for this.
  const data = { authenticatedAt: ctx.clock.now(), authenticatedFor: 'withdraw' }
  await ctx.db.session.update({ where: { id: operator.sessionId }, data })
  expect(await pressAll(operator)).toEqual(refused)
  expect(await getApp(ctx, { appId })).toEqual(before)
  expect((await findBlockers(ctx, debtor.userId)).blockers).toHaveLength(2)
  expect(await ctx.db.session.count({ where: { userId: debtor.userId, revokedAt: null } })).toBe(1)
  await ctx.db.session.update({ where: { id: operator.sessionId }, data: { authenticatedFor: null } })
  expect((await press(operator, 'waiveTask')).code).toBe('accepted')
})

test('a service may do what the buttons of /admin do, and stands in the audit log', async () => {
  const service = await givenServiceToken(ctx)
  const ask = (operation: string, asking: Asking = {}) =>
    call(service, operation, { ids: { appId, withdrawalId, taskId }, ...asking })
  expect((await ask('retryWithdrawal')).data).toEqual({
    withdrawal_id: withdrawalId,
    retried: false,
    retried_steps: [],
  })
  expect((await ask('retryWithdrawal', { ids: { withdrawalId: 'wd_none' } })).code).toBe('WITHDRAWAL_004')
  expect((await ask('retryTask')).data).toEqual({ task_id: taskId, retried: false })
  expect((await ask('retryTask', { ids: { taskId: 'msg_none' } })).code).toBe('TASK_001')
  expect((await ask('resendDeadLetters')).data).toEqual({ app_id: appId, resent: 0 })
  expect((await ask('resendDeadLetters', { ids: { appId: 'app_none' } })).code).toBe('REQUEST_005')
  const actions = (await audited('service', service.id)).map(({ action, actorId }) => [action, actorId])
  // A retry of nothing leaves no trace.
  expect(actions).toEqual([['events.resent', service.id]])
})

test('an operator sends the dead letters of an application again, and the page says how many', async () => {
  ctx.apps.answer = async () => ({ status: 503 })
  await givenWithdrawal(ctx)
  for (let days = 0; days < 8; days++) await pass(ctx, day)
  expect(await getApp(ctx, { appId })).toMatchObject({ deliveries: { waiting: 0, dead: 1 } })
  ctx.apps.answer = async () => ({ status: 204 })
  const again = { ...operator, sessionId: await givenSession(ctx, operator.userId) }
  expect((await press(again, 'resendDeadLetters')).data).toEqual({ app_id: appId, resent: 1 })
  await ctx.settle()
  expect(await getApp(ctx, { appId })).toMatchObject({ deliveries: { waiting: 0, dead: 0 } })
  expect((await press(again, 'resendDeadLetters')).data).toEqual({ app_id: appId, resent: 0 })
})

test('B125 what holds a deletion back is ended by the button of an operator, once, and stands in the audit of the account', async () => {
  const end = (status: 'settled' | 'cancelled') => press(operator, 'endTransaction', { body: { status } })
  const endBlocker = () => press(operator, 'endBlocker', { body: blockerOf(debtor) })
  const watched = async () => {
    const shown = await watchAccount(ctx, debtor.userId)
    return shown && 'email' in shown ? [shown.pending_transactions.length, shown.pushed_blockers.length] : null
  }
  expect(await watched()).toEqual([1, 1])
  expect((await end('cancelled')).data).toEqual({ transaction_id: transactionId, status: 'cancelled' })
  expect(await end('settled')).toMatchObject({ code: 'REQUEST_001', details: 'This transaction is cancelled already.' })
  expect((await endBlocker()).data).toEqual({ ...blockerOf(debtor), removed: true })
  expect((await endBlocker()).data).toEqual({ ...blockerOf(debtor), removed: false })
  expect(await watched()).toEqual([0, 0])
  const about = { userId: debtor.userId, actorId: operator.userId }
  const rows = await ctx.db.auditEvent.findMany({ where: about, orderBy: { action: 'asc' } })
  expect(rows.map(({ action, subjectId, actorId }) => [action, subjectId, actorId])).toEqual([
    ['transaction.cancelled', transactionId, operator.userId],
    ['withdrawal.blocker_removed', 'billing: unpaid_invoice (invoice-4711)', operator.userId],
  ])
})

test('B136 the button of an operator signs a person out everywhere, and stands in the audit of the account', async () => {
  const { token } = await givenToken(ctx, debtor.userId)
  const pressed = await press(operator, 'endAccountSessions', { body: { user_id: debtor.userId } })
  expect(pressed.data).toEqual({ user_id: debtor.userId, sessions_ended: 1, tokens_ended: 1 })
  expect((await call({ userId: debtor.userId, token }, 'getEmailStatus')).code).toBe('AUTH_001')
  const rows = (await audited('operator', debtor.userId)).filter(({ action }) => action === 'access.all_ended')
  expect(rows.map(({ actorId }) => actorId)).toEqual([operator.userId])
})

test('B127 nothing is ended that is unknown, or belongs to a withdrawn account or to one with a role', async () => {
  const codes = async (ids = { transactionId }, body = blockerOf(debtor)) => [
    (await press(operator, 'endTransaction', { ids, body: { status: 'settled' } })).code,
    (await press(operator, 'endBlocker', { body })).code,
    (await press(operator, 'endAccountSessions', { body: { user_id: body.user_id } })).code,
  ]
  const nobody = { ...blockerOf(debtor), user_id: 'usr_none' }
  expect(await codes({ transactionId: 'txn_none' }, nobody)).toEqual(['REQUEST_005', 'USER_001', 'USER_001'])
  await setRole(ctx, { userId: debtor.userId, role: 'operator' })
  expect(await codes()).toEqual(['AUTH_002', 'AUTH_002', 'AUTH_002'])
  await setRole(ctx, { userId: debtor.userId, role: null })
  await ctx.db.user.update({ where: { id: debtor.userId }, data: { withdrawnAt: ctx.clock.now() } })
  expect(await codes()).toEqual(['REQUEST_001', 'USER_001', 'USER_001'])
})

test('the audit logs name an operator who has withdrawn by the id alone', async () => {
  await press(operator, 'waiveTask', { body: { reason: 'gone' } })
  await withdrawAs(ctx, operator)
  const { audit } = await showWithdrawal(ctx, withdrawalId)
  expect(audit.find(({ action }) => action === 'task.waived')).toMatchObject({
    operator_id: operator.userId,
    operator_email: null,
  })
})

test('the audit logs say what an act was about and which service acted, and which operator', async () => {
  const reason = { body: { reason: 'gone' } }
  const other = (await givenWithdrawal(ctx)).withdrawalId
  const { id: otherTask } = await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId: other, appId } })
  const service = await givenServiceToken(ctx)
  await press(operator, 'waiveTask', reason)
  await call(service, 'waiveTask', { ids: { taskId: otherTask }, ...reason })
  for (const role of ['operator', null] as const) await setRole(ctx, { userId: debtor.userId, role })
  const waived = async (id: string) =>
    (await showWithdrawal(ctx, id)).audit.find(({ action }) => action === 'task.waived')
  expect(await waived(withdrawalId)).toMatchObject({
    actor: 'operator',
    subject_id: taskId,
    service_token_id: null,
    operator_id: operator.userId,
    operator_email: operator.email,
  })
  expect(await waived(other)).toMatchObject({
    actor: 'service',
    subject_id: otherTask,
    service_token_id: service.id,
    operator_id: null,
  })

  await press(operator, 'endTransaction', { body: { status: 'settled' } })
  expect(await watchAccount(ctx, debtor.userId)).toMatchObject({
    audit: expect.arrayContaining([
      expect.objectContaining({
        action: 'transaction.settled',
        subject_id: transactionId,
        operator_id: operator.userId,
        operator_email: operator.email,
      }),
      expect.objectContaining({
        action: 'withdrawal.blocker_put',
        subject_id: 'billing: unpaid_invoice (invoice-4711)',
        service_token_id: expect.stringMatching(/^svt_/),
        service_name: 'billing',
        operator_id: null,
      }),
      // The operator command acts for no account.
      expect.objectContaining({ action: 'role.changed', actor: 'operator', operator_id: null, operator_email: null }),
    ]),
  })

  const otherApp = await givenParticipant(ctx, 'other')
  ctx.clock.advance(1_000)
  for (const id of [appId, otherApp]) await press(operator, 'rotateAppSecret', { ids: { appId: id } })
  ctx.clock.advance(1_000)
  await call(service, 'setApp', { ids: { appId }, body: { disabled: true } })
  const shown = await actsOnApp(ctx, { appId, tasks: [{ task_id: taskId, withdrawal_id: withdrawalId }], maxRows: 9 })
  const acts = shown.map((act) => [act.action, act.subject_id, act.actor])
  expect(acts).toContainEqual(['task.waived', taskId, 'operator'])
  expect(acts.slice(0, 2)).toEqual([
    ['app.disabled', appId, 'service'],
    ['app.secret_rotated', appId, 'operator'],
  ])
})

test('an operator finds a person by an address, and a withdrawn one only by ids; a look-up is audited without its text', async () => {
  const find = async (text: unknown) => {
    const { code, data } = await press(operator, 'lookUp', { body: { text } })
    return code === 'accepted' ? data : code
  }
  const { userId, email } = await givenUser(ctx)
  expect(await find(` ${email} `)).toEqual({ kind: 'user', id: userId })
  expect(await find(withdrawalId)).toEqual({ kind: 'withdrawal', id: withdrawalId })
  const gone = await givenWithdrawal(ctx)
  expect(await find(gone.userId)).toEqual({ kind: 'withdrawal', id: gone.withdrawalId })
  expect(await find(gone.email)).toBe('USER_001')
  for (const text of [7, 'x'.repeat(321), 'a\0b']) expect(await find(text)).toBe('REQUEST_001')
  const noted = await ctx.db.auditEvent.findMany({ where: { action: 'account.looked_up', actorId: operator.userId } })
  expect(noted).toMatchObject([{ userId, actor: 'operator', subjectId: null, ip: '192.0.2.1' }])
  expect(JSON.stringify(noted)).not.toContain('@')
})

test('an operator finds an application by its id or the beginning of a word of its name, and the account of a transaction', async () => {
  const ask = (text: string) => press(operator, 'lookUp', { body: { text } })
  const find = async (text: string) => (await ask(text)).data
  const name = `Shop ${appId} 100%_`
  const givenNamed = async (name: string) => {
    const id = await givenParticipant(ctx, 'other')
    await setApp(ctx, { appId: id, name })
    return id
  }
  await setApp(ctx, { appId, name })
  for (const text of [appId, name, name.toLowerCase(), appId.slice(0, 12), '100%_ '])
    expect(await find(text)).toEqual({ kind: 'app', id: appId })
  expect(await find(transactionId)).toEqual({ kind: 'user', id: debtor.userId })
  for (const text of [appId.slice(4), 'Shop ___']) expect(await find(text)).toEqual({})
  const other = await givenNamed(`${name} of another`)
  expect(await find(other.slice(0, 12))).toEqual({ kind: 'app', id: other })
  expect((await ask(name.slice(0, 12))).details).toBe(
    `Several apps begin so: ${name}, ${name} of another. Type more of the name.`,
  )
  expect(await find(`${name} of`)).toEqual({ kind: 'app', id: other })
  for (const text of [name, name.toLowerCase()]) expect(await find(text)).toEqual({ kind: 'app', id: appId })
  for (let more = 0; more < 4; more++) await givenNamed(`${name} ${more}`)
  expect((await ask(name.slice(0, 12))).details).toBe('More than 5 apps begin so. Type more of the name.')
  // The person's own id comes first.
  await ctx.db.user.update({ where: { id: operator.userId }, data: { externalId: name } })
  expect(await find(name)).toEqual({ kind: 'user', id: operator.userId })
})

test('an operator finds a deletion and an account by the beginning of an id, of a task or a transaction too, and reads which several begin so', async () => {
  const ask = (text: string) => press(operator, 'lookUp', { body: { text } })
  const { userId } = await givenUser(ctx)
  const deletion = { kind: 'withdrawal', id: withdrawalId }
  for (const text of [withdrawalId.slice(0, 9), withdrawalId.slice(0, -1), `msg_${withdrawalId.slice(3, 10)}`])
    expect((await ask(text)).data).toEqual(deletion)
  for (const text of [userId.slice(0, 10), `${userId.slice(0, 10)}…`, `${userId.slice(0, 12)}...`, `${userId}…`])
    expect((await ask(text)).data).toEqual({ kind: 'user', id: userId })
  expect((await ask(transactionId.slice(0, 10))).data).toEqual({ kind: 'user', id: debtor.userId })
  const gone = await givenWithdrawal(ctx)
  expect((await ask(gone.userId.slice(0, 10))).data).toEqual({ kind: 'withdrawal', id: gone.withdrawalId })
  for (const text of [withdrawalId.slice(0, 8), withdrawalId.slice(3), `wd_${'z'.repeat(22)}`, 'wd_%%%%%%'])
    expect([text, (await ask(text)).code]).toEqual([text, 'USER_001'])
  const service = await givenServiceToken(ctx)
  expect((await call(service, 'lookUp', { body: { text: withdrawalId.slice(0, 9) } })).code).toBe('USER_001')

  const start = userId.slice(0, -2)
  const add = (end: string) =>
    ctx.db.user.create({ data: { id: start + end, name: '', email: '', createdAt: new Date() } })
  for (const end of ['a', 'zzzz']) await add(end)
  expect((await ask(start)).details).toBe(
    `Several IDs begin so: ${[`${start}a`, userId, `${start}zzzz`].sort().join(', ')}. Type more of the ID.`,
  )
  for (const end of ['b', 'c', 'd']) await add(end)
  expect((await ask(start)).details).toBe('More than 5 IDs begin so. Type more of the ID.')
})

test('the sentence of a search that finds nothing speaks of addresses where one was typed', async () => {
  const sentence = async (text: string) => (await press(operator, 'lookUp', { body: { text } })).details
  expect(await sentence('nobody@example.test')).toContain('being deleted is not found by its address')
  for (const text of ['app_none', 'app_none…', 'app_none...', 'wd_Ab3', 'usr_'])
    expect(await sentence(text)).toBe('Type at least six characters of the ID after its prefix.')
  for (const text of ['usr_none_none', 'wd_none_none'])
    expect(await sentence(text)).toMatch(/^No deletion or account has this ID\. It may be mistyped, or fully erased/)
  for (const text of ['app_none_none', 'ada@', '@ada'])
    expect(await sentence(text)).toBe(
      'No deletion, account, transaction or app has this ID, and no app has this name. A person is found by ID or address.',
    )
})
