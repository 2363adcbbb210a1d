import { beforeEach, expect, test } from 'vitest'
import { setPassword } from '@/domain/accounts/user'
import { addTransaction } from '@/domain/applications/transactions'
import { sendDueNotices } from '@/domain/mail/notice-queue'
import { NOTICE_KINDS } from '@/domain/notices'
import { withdrawByOperator } from '@/domain/withdrawal/withdraw-account'
import { cleanUp } from '@/domain/work/cleanup'
import { templatesTo } from '@/testing/account'
import { type Asking, type Caller, call, day, minute, withdraw } from '@/testing/api-calls'
import { givenCaller, givenChange, givenServiceOf, givenToken } from '@/testing/callers'
import { anotherInstance, installContext } from '@/testing/install-context'
import { linkTo, move, redeem } from '@/testing/not-me'
import { heldUp, outcomeOf, tally } from '@/testing/outcomes'
import { rawSql } from '@/testing/raw-sql'
import { givenService, mailsTo, type Service, times } from '@/testing/service'

const LETTER = 'withdrawal-requested'
const NOBODY = { userId: '' }
const CONFIRM = { body: { confirmation: 'DELETE_MY_ACCOUNT' } }
const BY_SUPPORT = { ...CONFIRM.body, requested_by: 'support' }

let ctx: Service
let owner: Caller

beforeEach(async () => {
  ctx = await givenService()
  owner = await givenCaller(ctx)
})

let clients = 0
/** Each request comes from another client. */
async function ask(email: string, asking: Asking = {}) {
  const answer = await call(NOBODY, 'requestWithdrawal', { body: { email }, ip: `client ${clients++}`, ...asking })
  await ctx.settle()
  return answer
}

/** The tokens of the links that were mailed to this address, oldest first. */
const tokensTo = (address: string): string[] =>
  mailsTo(ctx, address, LETTER).map(({ message }) =>
    message.template === LETTER ? (message.link.split('/delete-account/confirm#token=')[1] ?? '') : '',
  )
const lettersTo = (...addresses: string[]) => addresses.map((address) => templatesTo(ctx, address))
const lettersSent = () => ctx.mailbox.map(({ to, message }) => [to, message.template])
const preview = (token: string, asking: Asking = {}) => call({ ...NOBODY, token }, 'previewRequestedWithdrawal', asking)
const confirm = (token: string, asking: Asking = {}) =>
  call({ ...NOBODY, token }, 'confirmRequestedWithdrawal', { ...CONFIRM, ...asking })
const codesOf = async (token: string) => [(await preview(token)).code, (await confirm(token)).code]
const DEAD = ['WITHDRAWAL_006', 'WITHDRAWAL_006']
const withdrawals = () => ctx.db.withdrawal.count({ where: { userId: owner.userId } })

/** The token of a link that the owner asked for. */
async function givenLink() {
  await ask(owner.email)
  return tokensTo(owner.email)[0] ?? ''
}

/** Support says that the old mailbox is lost. */
const losing = async (email: string) => (await givenServiceOf(ctx, owner))('putUser', { email, old_mailbox: 'lost' })

/** Another account in place of the last one. */
async function givenOther() {
  owner = await givenCaller(ctx)
}

test('B52 a mailed link shows what would be deleted, changes nothing until it is confirmed, and withdraws once', async () => {
  const token = await givenLink()
  const shown = await preview(token)
  expect(shown.data).toMatchObject({ allowed: true, blockers: [] })
  expect(shown.text).not.toContain(owner.email)
  expect(await withdrawals()).toBe(0)
  expect((await call(owner, 'getEmailStatus')).code).toBe('accepted')
  const answer = await confirm(token)
  expect(answer).toMatchObject({ status: 202, data: { status: 'processing', user_id: owner.userId } })
  const { withdrawal_id: withdrawalId, status_token: statusToken } = answer.data as Record<string, string>
  expect(answer.headers.get('Location')).toBe(`/api/v1/users/${owner.userId}/withdrawal/${withdrawalId}`)
  const options = { ids: { withdrawalId: withdrawalId ?? '' }, token: statusToken ?? '' }
  expect((await call(owner, 'getWithdrawalStatus', options)).data).toMatchObject({ status: 'processing' })
  expect((await call(owner, 'getEmailStatus')).code).toBe('AUTH_001')
  expect(await codesOf(token)).toEqual(DEAD)
  await ctx.settle()
  expect(templatesTo(ctx, owner.email)).toEqual([LETTER, 'account-withdrawal-started'])
  const audited = await ctx.db.auditEvent.findMany({ where: { userId: owner.userId }, orderBy: { at: 'asc' } })
  expect(audited.slice(-2).map(({ action, actor }) => `${action} ${actor}`)).toEqual([
    'withdrawal.requested system',
    'account.withdrawn mailed_link',
  ])
})

test('B52 of two hundred confirmations of one link on two instances exactly one has an effect, though no limit stops them', async () => {
  ctx.limits.withdraw = { places: 1_000, windowMs: day }
  const token = await givenLink()
  const instances = [ctx, await anotherInstance(ctx)]
  const answers = await Promise.all(
    times(200, (n) => {
      installContext(instances[n % 2] as Service)
      return confirm(token)
    }),
  )
  installContext(ctx)
  expect(tally(answers.map(({ code }) => code))).toEqual({ accepted: 1, WITHDRAWAL_006: 199 })
  expect(await withdrawals()).toBe(1)
  const audited = { userId: owner.userId, action: 'account.withdrawn' }
  expect(await ctx.db.auditEvent.count({ where: audited })).toBe(1)
})

test('B52 a confirmation that is repeated with its Idempotency-Key gets the first answer, and with another key or link it does not', async () => {
  const token = await givenLink()
  const keyed = (key: string) => ({ headers: { 'Idempotency-Key': key } })
  const first = await confirm(token, keyed('one'))
  const again = await confirm(token, keyed('one'))
  expect(again.text).toBe(first.text)
  expect(again.headers.get('Idempotency-Replayed')).toBe('true')
  expect((await confirm(token, keyed('two'))).code).toBe('WITHDRAWAL_006')
  expect((await confirm(token, { ...keyed('three'), body: {} })).code).toBe('WITHDRAWAL_006')
  expect((await confirm(`${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`, keyed('one'))).code).toBe(
    'WITHDRAWAL_006',
  )
  ctx.clock.advance(30 * minute)
  expect((await confirm(token, keyed('one'))).code).toBe('WITHDRAWAL_006')
})

test('B53 a link ends after thirty minutes, and with a new password, a new address, an undo, a withdrawal or a lost mailbox', async () => {
  const ends: Record<string, () => Promise<unknown>> = {
    'thirty minutes': async () => ctx.clock.advance(30 * minute),
    'a new password': () => setPassword(ctx, { userId: owner.userId, password: 'another password' }),
    'a new address': () => move(ctx, owner, `new-${owner.email}`),
    async 'a change there and back'() {
      await move(ctx, owner, `new-${owner.email}`)
      await move(ctx, owner, owner.email)
    },
    async 'an undo'() {
      await move(ctx, owner, `new-${owner.email}`)
      expect((await redeem(linkTo(ctx, owner.email))).code).toBe('accepted')
    },
    'a withdrawal': () => withdraw(owner),
    'a lost mailbox': () => losing(`safe-${owner.email}`),
  }
  for (const [what, end] of Object.entries(ends)) {
    await givenOther()
    const token = await givenLink()
    expect((await preview(token)).code).toBe('accepted')
    await end()
    expect([what, await codesOf(token)]).toEqual([what, DEAD])
  }
})

test('B53 only the exact token opens a link, and each other one gets the same answer', async () => {
  const token = await givenLink()
  const other = await givenCaller(ctx)
  await ask(other.email)
  const [name = '', mac = ''] = token.split('.')
  const [othersName = '', othersMac = ''] = (tokensTo(other.email)[0] ?? '').split('.')
  await call(NOBODY, 'requestPasswordReset', { body: { email: other.email } })
  await ctx.settle()
  const [reset] = mailsTo(ctx, other.email, 'password-reset')
  const resetToken = reset?.message.template === 'password-reset' ? (reset.message.link.split('=')[1] ?? '') : ''
  const wrong = [
    ...[`${name}.${othersMac}`, `${othersName}.${mac}`, `${token}A`, token.slice(0, -1), 'wrt_', other.token],
    ...[resetToken, resetToken.replace('prt_', 'wrt_'), token.replace('wrt_', 'prt_')],
  ]
  for (const one of wrong) expect([one, await codesOf(one)]).toEqual([one, DEAD])
  expect((await call(NOBODY, 'previewRequestedWithdrawal', { token: null })).code).toBe('AUTH_001')
  expect((await call(NOBODY, 'confirmRequestedWithdrawal', { token: null })).code).toBe('AUTH_001')
  expect((await preview(token)).code).toBe('accepted')
})

test('a link that does not work is told before a wrong body, and a wrong body counts in no limit', async () => {
  const token = await givenLink()
  const body = { confirmation: 'delete' }
  for (let n = 0; n < 6; n++) expect((await confirm(token, { body })).code).toBe('WITHDRAWAL_001')
  expect((await confirm('wrt_none', { body })).code).toBe('WITHDRAWAL_006')
  expect((await confirm(token, { body: { ...CONFIRM.body, reason: 'other' } })).code).toBe('REQUEST_001')
  expect((await confirm(token)).code).toBe('accepted')
})

test('a confirmation is held back and limited as a withdrawal by its owner is, and the preview never asks applications', async () => {
  const token = await givenLink()
  await addTransaction(ctx, { userId: owner.userId, status: 'pending', title: 'Order', ip: '' })
  expect((await preview(token, { query: '?ask=true' })).data).toMatchObject({ allowed: false })
  for (let n = 0; n < 5; n++) expect((await confirm(token)).code).toBe('WITHDRAWAL_003')
  expect((await confirm(token)).code).toBe('RATE_001')
  expect((await withdraw(owner)).code).toBe('RATE_001')
})

/** The account has moved from its owner's address to two others, a minute apart. */
async function givenMoved() {
  const [between, moved] = [`between-${owner.email}`, `moved-${owner.email}`]
  for (const to of [between, moved]) await move(ctx, owner, to)
  ctx.mailbox.splice(0)
  return { between, moved }
}

const [BY_SIGN_IN, UNDO_FIRST] = ['withdrawal-by-sign-in', 'undo-before-withdrawal'] as const

test('B54 while a change can be undone, nobody gets a link: the present address is told how to sign in, each verified earlier one how to undo', async () => {
  for (const which of ['email', 'between', 'moved'] as const) {
    await givenOther()
    const { between, moved } = await givenMoved()
    expect((await ask({ email: owner.email, between, moved }[which])).code).toBe('accepted')
    expect(lettersTo(owner.email, between, moved)).toEqual([[UNDO_FIRST], [UNDO_FIRST], [BY_SIGN_IN]])
    expect((await redeem(linkTo(ctx, owner.email))).data).toMatchObject({ status: 'reverted', email: owner.email })
  }
})

test('B54 an address that was never verified asks for nobody, and holds no link back', async () => {
  const moved = `moved-${owner.email}`
  await ctx.db.user.update({ where: { id: owner.userId }, data: { emailVerifiedAt: null } })
  await move(ctx, owner, moved)
  ctx.mailbox.splice(0)
  await ask(owner.email)
  expect(ctx.mailbox).toEqual([])
  await ask(moved)
  expect(lettersSent()).toEqual([[moved, LETTER]])
  expect((await confirm(tokensTo(moved)[0] ?? '')).code).toBe('accepted')
})

test('B54 an account that has gone back to its address is told there how to sign in, and its other mailbox how to undo', async () => {
  const other = `other-${owner.email}`
  await move(ctx, owner, other)
  await move(ctx, owner, owner.email)
  for (const email of [owner.email, other]) {
    ctx.mailbox.splice(0)
    await ask(email)
    expect(lettersTo(owner.email, other)).toEqual([[BY_SIGN_IN], [UNDO_FIRST]])
  }
})

test('B54 an address that was replaced twice gets the link that undoes every change since', async () => {
  const [other, last] = [`other-${owner.email}`, `last-${owner.email}`]
  for (const to of [other, owner.email, last]) await move(ctx, owner, to)
  ctx.mailbox.splice(0)
  await ask(last)
  expect(lettersTo(owner.email, other, last)).toEqual([[UNDO_FIRST], [UNDO_FIRST], [BY_SIGN_IN]])
  const others = linkTo(ctx, other)
  expect((await redeem(linkTo(ctx, owner.email))).data).toMatchObject({ status: 'reverted', email: owner.email })
  expect((await redeem(others)).code).toBe('EMAIL_006')
})

test('B54 an address that a withdrawn account had replaced finds the account that has replaced it since', async () => {
  await givenMoved()
  await withdraw(owner)
  const next = await givenCaller(ctx, owner.email)
  await move(ctx, next, `next-${owner.email}`)
  ctx.mailbox.splice(0)
  await ask(owner.email)
  expect(templatesTo(ctx, `next-${owner.email}`)).toEqual([BY_SIGN_IN])
  expect((await redeem(linkTo(ctx, owner.email))).code).toBe('accepted')
  const user = await ctx.db.user.findUniqueOrThrow({ where: { id: next.userId } })
  expect(user.email).toBe(owner.email)
})

test('B54 once no change can be undone, only the present address gets a link, from the time that it was told', async () => {
  const { between, moved } = await givenMoved()
  await ask(moved)
  const [told] = mailsTo(ctx, moved, BY_SIGN_IN)
  const from = told?.message.template === BY_SIGN_IN && told.message.linkFrom
  ctx.mailbox.splice(0)
  ctx.clock.advance(Number(from) - ctx.clock.now().getTime())
  for (const email of [owner.email, between, moved]) await ask(email)
  expect(lettersSent()).toEqual([[moved, LETTER]])
  expect((await confirm(tokensTo(moved)[0] ?? '')).code).toBe('accepted')
})

test('B54 a mailbox that support says is lost is told nothing, and the present address gets the link', async () => {
  const { moved } = await givenMoved()
  await losing(moved)
  await ask(owner.email)
  await ask(moved)
  expect(templatesTo(ctx, owner.email)).toEqual([])
  expect((await confirm(tokensTo(moved)[0] ?? '')).code).toBe('accepted')
})

test('B54 letters that are sent again are the first ones, and none goes out after an undo or a lost mailbox', async () => {
  const later = async () => {
    ctx.mailServer.accepts = true
    ctx.clock.advance(2 * minute)
    await sendDueNotices(ctx, NOTICE_KINDS)
  }
  const { between, moved } = await givenMoved()
  ctx.mailServer.accepts = false
  await ask(moved)
  await later()
  expect(lettersTo(owner.email, between, moved)).toEqual([[UNDO_FIRST], [UNDO_FIRST], [BY_SIGN_IN]])

  for (const end of [() => redeem(linkTo(ctx, owner.email)), () => losing(`moved-${owner.email}`)]) {
    await givenOther()
    await move(ctx, owner, `moved-${owner.email}`)
    ctx.mailServer.accepts = false
    await ask(owner.email)
    expect(await end()).toMatchObject({ code: 'accepted' })
    await ctx.settle()
    await later()
    expect(templatesTo(ctx, owner.email)).not.toContain(UNDO_FIRST)
  }
})

test('B54 a confirmation that waits for the account while its address goes away and comes back deletes nothing', async () => {
  const token = await givenLink()
  const waited = await heldUp(
    ctx,
    ['users', owner.userId],
    () => confirm(token),
    // As two changes leave it, whose transactions would wait for the same row.
    (tx) =>
      rawSql(
        tx,
        `INSERT INTO email_change_requests (id, user_id, status, method, old_email, old_email_key, old_verified_at, new_email, new_email_key,
                                            code_mac, requested_at, request_ip, sent_at, expires_at, closed_at)
         VALUES ($1, $2, 'verified', 'service', $3, $3, $5, $4, $4, '', $5, '', $5, $5, $5)`,
        [`ecr_${owner.userId}`, owner.userId, owner.email, `other-${owner.email}`, ctx.clock.now()],
      ),
  )
  expect(waited.code).toBe('WITHDRAWAL_006')
  expect(await withdrawals()).toBe(0)
})

test('B62 a withdrawal that waits for the account while it is given back is refused to the person', async () => {
  await givenLink()
  const moved = await move(ctx, owner, `moved-${owner.email}`)
  const waited = await heldUp(
    ctx,
    ['users', owner.userId],
    () => withdraw(owner),
    (tx) =>
      rawSql(tx, `UPDATE email_change_requests SET status = 'reverted', reverted_at = $2 WHERE id = $1`, [
        moved,
        ctx.clock.now(),
      ]),
  )
  expect(waited.code).toBe('WITHDRAWAL_003')
  expect(await withdrawals()).toBe(0)
})

/** The owner has undone a change with the link that was mailed to the old address. */
async function givenUndone() {
  await move(ctx, owner, `moved-${owner.email}`)
  expect((await redeem(linkTo(ctx, owner.email))).code).toBe('accepted')
  await withToken()
  await ctx.settle()
  ctx.mailbox.splice(0)
  const until = new Date(ctx.clock.now().getTime() + ctx.limits.undoWindowMs).toISOString()
  return { until, blocker: { code: 'address_restored', source: 'account', url: null, until } }
}

/** The owner makes a new token, because every earlier one has ended. */
async function withToken() {
  owner = { ...owner, ...(await givenToken(ctx, owner.userId)) }
}

test('B62 for the undo window after an undo neither the person nor a mailed link deletes, whoever asks', async () => {
  const { until, blocker } = await givenUndone()
  const refused = await withdraw(owner)
  expect(refused).toMatchObject({ status: 409, code: 'WITHDRAWAL_003', details: expect.stringContaining(until) })
  expect(JSON.parse(refused.text).error.blockers).toMatchObject([blocker])
  expect((await call(owner, 'previewWithdrawal')).data).toMatchObject({ allowed: false, blockers: [blocker] })
  for (const email of [owner.email, `moved-${owner.email}`]) await ask(email)
  expect(lettersSent()).toEqual([[owner.email, BY_SIGN_IN]])
  ctx.clock.advance(7 * day - 1)
  expect((await withdraw(owner)).code).toBe('WITHDRAWAL_003')
  ctx.clock.advance(1)
  await ask(owner.email)
  expect(tokensTo(owner.email)).toHaveLength(1)
  expect((await withdraw(owner)).code).toBe('accepted')
})

test('B62 an undo holds a withdrawal back also once support says that the restored mailbox is lost', async () => {
  await givenUndone()
  const email = `safe-${owner.email}`
  expect((await losing(email)).code).toBe('accepted')
  await ask(email)
  expect(templatesTo(ctx, email)).toContain(BY_SIGN_IN)
  await withToken()
  expect((await withdraw(owner)).code).toBe('WITHDRAWAL_003')
  expect((await (await givenServiceOf(ctx, owner))('withdrawUser', BY_SUPPORT)).code).toBe('accepted')
})

test('B62 a service and the operator withdraw the account after an undo, and whoever comes back is not held', async () => {
  await givenUndone()
  const service = await givenServiceOf(ctx, owner)
  expect((await service('withdrawUser', BY_SUPPORT)).code).toBe('accepted')
  const again = await service('putUser', { email: owner.email, name: 'Ada', email_verified: true, recreate: true })
  expect(again.code).toBe('accepted')
  owner = { ...owner, userId: String(again.data.user_id) }
  await withToken()
  expect((await call(owner, 'previewWithdrawal')).data).toMatchObject({ allowed: true, blockers: [] })

  await givenOther()
  await givenUndone()
  const input = { userId: owner.userId, confirmation: 'DELETE_MY_ACCOUNT' as const }
  expect(await outcomeOf(withdrawByOperator(ctx, input))).toBe('accepted')
})

test('B62 the refusal names what has to be settled beside the undo, and a stopped request or a window of zero holds nothing back', async () => {
  const { until, blocker } = await givenUndone()
  await addTransaction(ctx, { userId: owner.userId, status: 'pending', title: 'Order', ip: '' })
  const { text, details } = await withdraw(owner)
  expect(details).toMatch(new RegExp(`^1 pending transaction\\. Settle or cancel it first\\. .*${until}\\.$`))
  expect(JSON.parse(text).error.blockers).toMatchObject([{ code: 'pending_transactions' }, blocker])

  await givenOther()
  await givenChange(ctx, owner)
  expect((await redeem(linkTo(ctx, owner.email))).data).toMatchObject({ status: 'cancelled' })
  await withToken()
  expect((await withdraw(owner)).code).toBe('accepted')

  await givenOther()
  await givenUndone()
  ctx.limits.undoWindowMs = 0
  expect((await withdraw(owner)).code).toBe('accepted')
})

test('B62 while an undo holds a deletion back, the letter to whoever asks for a link says until when', async () => {
  const { until } = await givenUndone()
  await ask(owner.email)
  expect(ctx.mailbox.at(-1)?.message).toMatchObject({ template: BY_SIGN_IN, heldUntil: new Date(until) })
  await givenOther()
  const { moved } = await givenMoved()
  await ask(moved)
  const letters = ctx.mailbox.map(({ message }) => message)
  expect(letters).toContainEqual(expect.objectContaining({ template: BY_SIGN_IN, heldUntil: null }))
})

test('B62 the cleanup leaves an undo as long as it holds a withdrawal back', async () => {
  ctx.limits.undoWindowMs = 30 * day
  await move(ctx, owner, `moved-${owner.email}`)
  const link = linkTo(ctx, owner.email)
  ctx.clock.advance(29 * day)
  expect((await redeem(link)).code).toBe('accepted')
  await withToken()
  await ctx.settle()
  ctx.clock.advance(29 * day)
  await cleanUp(ctx)
  expect((await withdraw(owner)).code).toBe('WITHDRAWAL_003')
  ctx.clock.advance(2 * day)
  await cleanUp(ctx)
  expect(await ctx.db.emailChangeRequest.count({ where: { userId: owner.userId } })).toBe(0)
})

test('B55 where a mailbox is not proof enough, the letter carries no link and an earlier link no longer works', async () => {
  const token = await givenLink()
  await ctx.db.user.update({ where: { id: owner.userId }, data: { externalId: `ext-${owner.userId}` } })
  expect((await preview(token)).code).toBe('accepted')
  const { deletionByMail, freshSignIn } = ctx
  const acrRequired = { deletionByMail, freshSignIn: { ...freshSignIn, requiredAcr: 'mfa' } }
  for (const setting of [{ deletionByMail: false }, acrRequired]) {
    Object.assign(ctx, setting)
    await ask(owner.email)
    expect(templatesTo(ctx, owner.email).at(-1)).toBe(BY_SIGN_IN)
    expect(await codesOf(token)).toEqual(DEAD)
  }
  // The provider does not know this one.
  await givenOther()
  await ask(owner.email)
  expect(templatesTo(ctx, owner.email)).toEqual([LETTER])
})

const ROUNDS = Number(process.env.PROOF_RUNS ?? 40)

test('B56 every address gets the same bytes, and only the account gets letters, three an hour', async () => {
  const { moved } = await givenMoved()
  const [known, gone, unverified, noPassword] = await Promise.all(times(4, () => givenCaller(ctx)))
  if (!known || !gone || !unverified || !noPassword) throw new Error('nobody')
  await withdraw(gone)
  await ctx.db.user.update({ where: { id: unverified.userId }, data: { emailVerifiedAt: null } })
  await ctx.db.user.update({ where: { id: noPassword.userId }, data: { passwordHash: null } })
  await ctx.settle()
  ctx.mailbox.splice(0)
  const addresses = [known, gone, unverified, noPassword, owner].map(({ email }) => email)
  const answers = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const email of [...addresses, moved, `nobody-${round}@example.test`]) {
      const { status, text, headers } = await ask(email)
      const names = [...headers.keys()].sort().join()
      answers.add(`${status} ${names} ${headers.get('RateLimit')} ${text.replace(/"timestamp":"[^"]+"/, '')}`)
    }
  }
  expect([...answers]).toHaveLength(1)
  expect([...answers][0]).toMatch(/^202 /)
  const sent = (address: string) => templatesTo(ctx, address).filter((template) => template === LETTER).length
  expect([sent(known.email), sent(unverified.email), sent(noPassword.email)]).toEqual([3, 3, 3])
  expect(sent(gone.email)).toBe(0)
})

test('B63 an account gets 24 requests with mail a day, of which one client has six, and resets are counted apart', async () => {
  const { email } = owner
  const sent = (template: string) => templatesTo(ctx, email).filter((one) => one === template).length
  // Two an hour from one network, so that no other limit stops them.
  for (let hours = 0; hours < 6; hours++) {
    await ask(email, { ip: `2001:db8::${hours}` })
    await ask(email, { ip: `2001:db8::f:${hours}` })
    ctx.clock.advance(60 * minute)
  }
  expect(sent(LETTER)).toBe(6)
  for (let hours = 0; hours < 10; hours++) {
    for (let n = 0; n < 3; n++) await ask(email)
    ctx.clock.advance(60 * minute)
  }
  expect(sent(LETTER)).toBe(24)
  await call(NOBODY, 'requestPasswordReset', { body: { email }, ip: '2001:db8::1' })
  await ctx.settle()
  expect(sent('password-reset')).toBe(1)
  // The first hour is a day ago.
  ctx.clock.advance(8 * 60 * minute)
  await ask(email, { ip: '2001:db8::1' })
  expect(sent(LETTER)).toBe(25)
})

test('a malformed address is refused', async () => {
  for (const email of ['', 'nobody', 'a@b', `${'a'.repeat(250)}@b.example`, 7, null, undefined]) {
    expect((await call(NOBODY, 'requestWithdrawal', { body: { email }, ip: '192.0.2.7' })).code).toBe('REQUEST_001')
  }
})
