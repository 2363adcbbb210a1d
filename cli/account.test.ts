import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { day, minute } from '@/domain/limits/durations'
import { confirmPasswordReset } from '@/domain/passwords/confirm-password-reset'
import { ENGLISH } from '@/server/texts/catalogue'
import { authenticate, givenPendingChange, resetTokenTo } from '@/testing/account'
import { asNobody, asUser, givenUser, pass, runDueWork, type TestContext, testContext } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import { noted } from '@/testing/stderr'
import { givenWithdrawal, withdrawAs } from '@/testing/withdrawals'
import { parseCall } from './command.ts'
import { COMMANDS } from './commands.ts'
import { execute, sentenceOf, splitWords } from './execute.ts'
import { showAnswer, timeOf } from './show.ts'
import { untilTried } from './until-tried.ts'

type Answer = Record<string, string>

let ctx: TestContext
beforeEach(async () => {
  ctx = await testContext()
})

const run = (line: string, input = '') => execute(ctx, splitWords(line), async () => input) as Promise<Answer>

/** The rows that a command lists as this member. */
const listed = async (member: string, line: string) => (await run(line))[member] as unknown as Answer[]

/** The sentence that a refused command prints. */
const refusal = (line: string, input?: string): Promise<string> =>
  run(line, input).then(
    (answer) => `accepted: ${JSON.stringify(answer)}`,
    (error) => sentenceOf(error),
  )

/** What a terminal shows of an answer. */
async function shown(line: string): Promise<string> {
  const call = parseCall(COMMANDS, splitWords(line), { inBatch: false })
  const answer = (await call.run(ctx, async () => '')) as object
  const said = call.says ? await call.says(answer) : answer
  return typeof said === 'string' ? said : showAnswer(said, { now: ctx.clock.now(), width: 120, wide: false })
}

/** Somebody looks on. */
function onTerminal() {
  process.stdout.isTTY = true
  onTestFinished(() => {
    process.stdout.isTTY = false
  })
}

const NO_USER = 'No account has this address or ID.'
const NO_APP = 'There is no application with this ID: app list shows the IDs.'
const NO_WITHDRAWAL = 'There is no withdrawal with this ID: withdrawal list shows the IDs.'
const TOO_SHORT = 'Type at least six characters of the ID after its prefix.'
const NO_TASK = 'There is no deletion task with this ID: give the whole ID that task list shows.'
const NO_ADDRESS = 'The address must be one plain address, such as ada@example.com.'

const passwordHashOf = async (id: string) => (await ctx.db.user.findUniqueOrThrow({ where: { id } })).passwordHash ?? ''

/** A withdrawal that waits for an application, by the deletion task of it. */
async function givenTask() {
  const { userId, withdrawalId } = await givenWithdrawal(ctx, ['Shop'])
  const { id, appId, appName } = await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId } })
  return { userId, withdrawalId, id, appId, appName }
}

/** The id of an application at an address where nothing listens. */
const givenApp = async (name: string) =>
  (await run(`app register --name "${name}" --endpoint http://127.0.0.1:9/`)).app_id ?? ''

const givenToken = (userId: string, name = 'export') =>
  run(`token create --user ${userId} --scope email:manage --scope account:manage --name ${name}`)

test('a new password ends every session and access token, and with --keep-tokens the sessions alone', async () => {
  for (const [option, keepsTokens] of [
    ['', false],
    [' --keep-tokens', true],
  ] as const) {
    const user = await givenUser(ctx)
    const { access_token = '' } = await givenToken(user.userId)
    const line = `user set-password --user ${user.userId} --password staple-lantern${option}`
    expect(await run(line)).toEqual({ user_id: user.userId })
    expect((await authenticate(ctx, access_token)) !== null).toBe(keepsTokens)
    await expect(asUser(ctx, user)).rejects.toThrow('the session has ended')
    expect(await ctx.passwords.verify(await passwordHashOf(user.userId), 'staple-lantern')).toBe(true)
  }
})

test('key rotate makes a key that signs a day later, and with --now one that signs at once', async () => {
  const states = async (line: string) => (await listed('keys', line)).map(({ state }) => state)
  expect(await states('key rotate')).toEqual(['signing', 'waiting'])
  expect(await states('key rotate --now')).toEqual(['retired', 'retired', 'signing'])
  expect(await states('key list')).toEqual(['retired', 'retired', 'signing'])
})

test('a password has 8 to 256 characters, of a new account too, and another one changes nothing', async () => {
  const user = await givenUser(ctx)
  const before = await passwordHashOf(user.userId)
  // Seven characters, of which six are two UTF-16 units each.
  for (const password of ['1234567', '😀😀😀😀😀😀1', 'x'.repeat(257)]) {
    const sentence = 'The password must have 8 to 256 characters.'
    expect(await refusal(`user set-password --user ${user.userId} --password ${password}`)).toContain(sentence)
    const email = `new-${user.email}`
    expect(await refusal(`user create --email ${email} --name Ada --password ${password}`)).toContain(sentence)
  }
  expect(await ctx.db.user.count({ where: { email: `new-${user.email}` } })).toBe(0)
  expect(await passwordHashOf(user.userId)).toBe(before)
  expect((await asUser(ctx, user)).actor.userId).toBe(user.userId)
})

test.each(['a password\n', 'a password\r\n', 'a password'])(
  'a password is read from standard input, without its line end: %j',
  async (input) => {
    const { userId } = await givenUser(ctx)
    await run(`user set-password --user ${userId} --password-stdin`, input)
    expect(await ctx.passwords.verify(await passwordHashOf(userId), 'a password')).toBe(true)
    const created = await run(`user create --email new-${userId}@example.test --name Ada --password-stdin`, input)
    expect(await ctx.passwords.verify(await passwordHashOf(created.user_id ?? ''), 'a password')).toBe(true)
  },
)

test('B50 the operator gives an account another address, at the version that was seen', async () => {
  const { userId } = await givenUser(ctx)
  const line = `user set-email --user ${userId} --email Safe-${userId}@example.test`
  expect(await refusal(`${line} --if-version 7`)).toContain('The account is at version 0.')
  expect(await refusal(`${line} --if-version x`)).toContain('--if-version must be a whole number')
  expect(await refusal(`${line} --old-mailbox full`)).toContain('--old-mailbox')
  const unknown = 'user set-email --user usr_unknown --email a@example.test'
  expect(await refusal(unknown)).toBe(NO_USER)
  for (const call of [unknown, 'user find nobody@example.test', 'user show usr_unknown'])
    expect([call, await outcomeOf(run(call))]).toEqual([call, 'USER_001'])
  const changed = await run(`${line} --if-version 0 --old-mailbox lost`)
  expect(changed).toMatchObject({
    user_id: userId,
    email: `Safe-${userId}@example.test`,
    email_verified: true,
    version: 1,
  })
  // Nothing is left to be sent for the other tests.
  await runDueWork(ctx)
})

test('invalid input for a password is refused with a sentence', async () => {
  const { userId } = await givenUser(ctx)
  const line = `user set-password --user ${userId} --password-stdin`
  expect(await refusal(line, 'two lines\nof text\n')).toBe('Standard input must hold one line, the password.')
  expect(await refusal(line, '\n')).toBe('Standard input holds no password.')
  expect(await refusal(line, 'with a \0 byte')).toBe('The password contains characters that cannot be stored.')
  expect(await refusal(`${line} --password 'correct horse'`)).toBe('Give exactly one of --password, --password-stdin.')
  const inBatch = execute(ctx, splitWords(line), null)
  await expect(inBatch).rejects.toThrow('--password-stdin does not work in a batch')
})

test('the operator lists and revokes the access tokens of a user', async () => {
  const user = await givenUser(ctx)
  const kept = await givenToken(user.userId, 'kept')
  ctx.clock.advance(1)
  const gone = await givenToken(user.userId, 'gone')
  const list = () => listed('access_tokens', `token list --user ${user.userId}`)
  const [newest] = await list()
  expect(newest).toEqual({
    token_id: expect.stringMatching(/^tok_/),
    name: 'gone',
    scopes: ['email:manage', 'account:manage'],
    created_at: '2026-11-20T09:00:00.001Z',
    expires_at: '2026-12-20T09:00:00.001Z',
    last_used_at: null,
  })
  const tokenId = newest?.token_id ?? ''
  expect(await run(`token revoke ${tokenId}`)).toEqual({ user_id: user.userId, token_id: tokenId, revoked: 1 })
  expect((await list()).map(({ name }) => name)).toEqual(['kept'])
  expect(await authenticate(ctx, gone.access_token ?? '')).toBeNull()
  expect(await authenticate(ctx, kept.access_token ?? '')).not.toBeNull()
  expect(await refusal(`token revoke ${tokenId}`)).toContain('no access token with this ID that still works')

  expect(await run(`token revoke --user ${user.userId}`)).toEqual({ user_id: user.userId, revoked: 1 })
  expect(await list()).toEqual([])
  const audited = await ctx.db.auditEvent.findMany({ where: { userId: user.userId, actor: 'operator' } })
  expect(audited.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['access_token.revoked', 'access_token.all_revoked']),
  )
})

test('the operator ends one session, or signs a user out everywhere and cancels the pending change', async () => {
  const user = await givenUser(ctx)
  const change = await givenPendingChange(ctx, user)
  const [one] = await listed('sessions', `session list --user ${user.userId}`)
  expect(one).toMatchObject({ session_id: user.sessionId, user_agent: 'test' })
  const ended = { user_id: user.userId, session_id: user.sessionId, ended: 1 }
  expect(await run(`session end ${user.sessionId}`)).toEqual(ended)
  expect(await refusal(`session end ${user.sessionId}`)).toContain('no session with this ID')
  await expect(asUser(ctx, user)).rejects.toThrow('the session has ended')

  const statusOf = async () =>
    (await ctx.db.emailChangeRequest.findUniqueOrThrow({ where: { id: change.change_request_id } })).status
  expect(await statusOf()).toBe('pending_verification')
  expect(await run(`session end --user ${user.userId}`)).toEqual({ user_id: user.userId, ended: 0 })
  expect(await statusOf()).toBe('cancelled')
})

test('the operator lists the accounts whose address takes no mail', async () => {
  const { userId } = await givenUser(ctx)
  const since = ctx.clock.now()
  await ctx.db.user.update({ where: { id: userId }, data: { undeliverableAt: since } })
  const listed = { user_id: userId, external_id: null, since: since.toISOString() }
  for (const line of ['user list', 'user list --undeliverable'])
    expect(await run(line)).toEqual({ users: [listed], next: null })
  expect(await shown('user list')).toMatch(/^Accounts whose address takes no mail:\nAccount +Since\n/)
  const after = `user list --undeliverable --after ${userId}`
  expect(await run(after)).toEqual({ users: [], next: null })
  expect(await shown(after)).toBe(
    "No message to an account's address is known to have come back. Other accounts are not listed: user show ADDRESS finds one, and user export prints all.",
  )
})

test('the operator finds an account by its id, its address or its external id, with what is pending', async () => {
  const user = await givenUser(ctx)
  await ctx.db.user.update({ where: { id: user.userId }, data: { externalId: 'customer 42', locale: 'ja' } })
  const change = await givenPendingChange(ctx, user)
  await givenToken(user.userId)
  const shown = await run(`user show ${user.userId}`)
  expect(shown).toEqual({
    user_id: user.userId,
    email: user.email,
    email_verified: true,
    email_undeliverable: false,
    verified_at: '2026-11-20T09:00:00.000Z',
    name: 'Ada Lovelace',
    old_mailbox_lost_at: null,
    role: null,
    created_at: '2026-11-20T09:00:00.000Z',
    external_id: 'customer 42',
    locale: 'ja',
    has_password: true,
    pending_change: expect.objectContaining({
      has_pending: true,
      change_request_id: change.change_request_id,
      attempts_remaining: 5,
    }),
    version: 1,
    withdrawal_id: null,
    open_sessions: 1,
    open_access_tokens: 1,
    blockers: [],
    pushed_blockers: [],
    pending_transactions: [],
    connections: [],
    audit: expect.arrayContaining([
      expect.objectContaining({ action: 'email_change.requested', actor: 'session' }),
      expect.objectContaining({ action: 'user.created', actor: 'operator' }),
    ]),
  })
  expect(await run(`user show --user ${user.userId}`)).toEqual(shown)
  expect(await run(`user show --email ${user.email}`)).toEqual(shown)
  expect(await run(`user find --email ${user.email.toUpperCase()}`)).toEqual(shown)
  for (const command of ['show', 'find']) {
    expect(await run(`user ${command} ${user.email}`)).toEqual(shown)
    expect(await run(`user ${command} --external-id 'customer 42'`)).toEqual(shown)
    expect(await refusal(`user ${command} --external-id 'Customer 42'`)).toBe(NO_USER)
  }

  const { withdrawal_id } = await withdrawAs(ctx, user)
  const gone = { withdrawal_id, pending_change: { has_pending: false } }
  expect(await run(`user show ${user.userId}`)).toMatchObject(gone)
  expect(await refusal(`user find --email ${user.email}`)).toBe(
    'No account has this address or ID. An account that is being deleted is not found by its address, but by its deletion ID, which is in the link of the mail about it, by its account ID or by your own ID of the person: withdrawal show takes each of them.',
  )
})

test('the operator lists the withdrawals of a state', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  const idsOf = async (line: string) => (await listed('withdrawals', line)).map(({ withdrawal_id }) => withdrawal_id)
  expect(await idsOf('withdrawal list')).toContain(withdrawalId)
  expect(await idsOf('withdrawal list --state completed')).not.toContain(withdrawalId)
  expect(await idsOf('withdrawal list --state "In progress"')).toContain(withdrawalId)
})

test("after a deletion the account's id leads to its withdrawal, until the purge", async () => {
  const { userId, withdrawalId } = await givenWithdrawal(ctx)
  for (let days = 0; days < 8; days++) await pass(ctx, day)
  expect(await refusal(`user show ${userId}`)).toBe(`The account was deleted: withdrawal show ${withdrawalId}`)
  expect(await run(`withdrawal show ${userId}`)).toEqual(await run(`withdrawal show ${withdrawalId}`))
  expect(await refusal('withdrawal show usr_unknown')).toBe(NO_WITHDRAWAL)
  const { userId: id, email } = await givenUser(ctx)
  for (const one of [id, email])
    expect(await refusal(`withdrawal show ${one}`)).toBe(`The account is not withdrawn: user show ${id}`)
})

test.each([
  ['user find', 'Give exactly one of an account, --user, --email, --external-id.'],
  ['user find --email nonsense', NO_ADDRESS],
  ['user set-email --user usr_unknown --email nonsense', NO_ADDRESS],
  ['user show', 'Give exactly one of an account, --user, --email, --external-id.'],
  ['user show usr_unknown', NO_USER],
  ['token list --user usr_unknown', NO_USER],
  ['token revoke', 'Give exactly one of an ID, --user, --email.'],
  ['token revoke --user usr_unknown', NO_USER],
  ['session end', 'Give exactly one of an ID, --user, --email.'],
  ['session end --user usr_unknown', NO_USER],
  [
    'transaction settle txn_unknown',
    'There is no transaction with this ID: give the whole ID that transaction list shows.',
  ],
  ['app set app_unknown', 'Give what changes.'],
  ["app set app_unknown --name ' '", '--name must be text of one line,'],
  ['app set app_unknown --category ü', '--category has 1 to 64 printable ASCII characters.'],
  ['app set app_unknown --waive-reason other=Other.', '--waive-reason has CODE=SENTENCE such as merged='],
  ['app set app_unknown --acknowledge-within PT1S', '--acknowledge-within must be an ISO 8601 duration such as PT24H'],
  ['app set app_unknown --acknowledge-within P31D', '--acknowledge-within must be an ISO 8601 duration such as PT24H'],
  ['app set app_unknown --checks --no-checks', 'Give --checks or --no-checks, not both.'],
  [
    'app register --name Shop --endpoint https://a.test/ --event account.renamed',
    '--event must be one or more of account.email_change_requested,',
  ],
  [`token create --user usr_1 --scope email:manage --name ${'x'.repeat(101)}`, '--name has at most 100 characters.'],
  [
    'token create --user usr_1 --scope email:manage --expires-in P999999999D',
    '--expires-in must be an ISO 8601 duration',
  ],
  ['app set app_unknown --name Shop', NO_APP],
  ['app connect --user usr_unknown --app app_unknown --subject 1', NO_USER],
  [
    `app connect --user usr_unknown --app app_unknown --subject ${'x'.repeat(256)}`,
    '--subject must have from 1 to 255 bytes.',
  ],
  ['event resend --app app_1 --since soon', '--since must be a time such as 2026-11-20 or 2026-11-20T09:00:00Z.'],
  ['ledger trim --before soon', '--before must be a time such as 2026-11-20 or 2026-11-20T09:00:00Z.'],
  ['task waive msg_none --reason gone', NO_TASK],
  ['task retry msg_none', NO_TASK],
  ['task list --app app_unknown', NO_APP],
  ['task list --withdrawal wd_unknown', NO_WITHDRAWAL],
  ['app ping Newsletter', 'There is no application with this name: app list shows all of them.'],
  ['app check a.test/ --secret x', 'The receiver must be a URL that begins with https:// or http://.'],
  ['app check http://a.test/', 'The address of a receiver needs --secret.'],
  [
    'event resend evt_none',
    'There is no event with this ID. Events are kept for thirty days: give the whole ID that event list shows.',
  ],
  [
    'service-token revoke svt_none',
    'There is no service token with this ID that still works: give the whole ID that service-token list shows',
  ],
  [
    'token revoke tok_none',
    'There is no access token with this ID that still works: give the whole ID that token list shows.',
  ],
  [
    'session end ses_none',
    'There is no session with this ID that is still signed in: give the whole ID that session list shows.',
  ],
  ['withdrawal show gone@example.test', `${NO_USER} An account that is being deleted is not found by its address`],
  ['withdrawal retry wd_unknown', NO_WITHDRAWAL],
  ['archive accept-loss --withdrawal wd_unknown', NO_WITHDRAWAL],
  ['event list --app app_unknown', NO_APP],
  ['transaction list --user usr_unknown', NO_USER],
  ...[
    '12,50EUR',
    '12.5EUR',
    '12.50',
    'EUR',
    '-1EUR',
    '1.5JPY',
    '12.50QQQ',
    '12.50eur',
    '99999999999EUR',
    '21474836.48EUR',
  ].map((amount): [string, string] => [
    `transaction add --user usr_1 --amount=${amount}`,
    '--amount must be a number and a currency of ISO 4217, such as 12.50EUR, 12EUR or 1250JPY,',
  ]),
  [
    'transaction add --user usr_1 --url javascript:alert(1)',
    '--url must be a URL that begins with https:// or http:// and',
  ],
  [
    'transaction add --user usr_1 --url https://a:b@shop.example.com/',
    '--url must be a URL that begins with https:// or http:// and',
  ],
  [`transaction add --user usr_1 --title ${'x'.repeat(201)}`, '--title has at most 200 characters.'],
])('%s is refused with a sentence, which names its option and nothing of the API', async (line, sentence) => {
  expect((await refusal(line)).slice(0, sentence.length)).toBe(sentence)
})

test('an operator sees which transactions hold a deletion back, of one account and of all', async () => {
  const { userId } = await givenUser(ctx)
  const add = (status: string) =>
    run(
      `transaction add --user ${userId} --status ${status} --title 'Order 7' --amount 7EUR --url https://shop.example.com/orders/7`,
    )
  await add('settled')
  ctx.clock.advance(1)
  const { transaction_id: id } = await add('pending')
  const pending = {
    transaction_id: id,
    user_id: userId,
    status: 'pending',
    title: 'Order 7',
    amount: { minor_units: 700, currency: 'EUR' },
    url: 'https://shop.example.com/orders/7',
    created_at: '2026-11-20T09:00:00.001Z',
  }
  expect(await listed('transactions', `transaction list --user ${userId}`)).toMatchObject([
    pending,
    { status: 'settled' },
  ])
  expect(await listed('transactions', 'transaction list')).toContainEqual(pending)
  expect(await run(`user show ${userId}`)).toMatchObject({
    blockers: [{ code: 'pending_transactions', source: 'account', ids: [id] }],
    pending_transactions: [pending],
  })
  await run(`transaction settle ${id}`)
  expect(await listed('transactions', 'transaction list')).not.toContainEqual(pending)
  expect(await run(`user show ${userId}`)).toMatchObject({ blockers: [], pending_transactions: [] })
})

test('a pending transaction can be settled or cancelled, and then holds no withdrawal back', async () => {
  for (const [command, status] of [
    ['settle', 'settled'],
    ['cancel', 'cancelled'],
  ] as const) {
    const user = await givenUser(ctx)
    const { transaction_id: id = '' } = await run(`transaction add --user ${user.userId} --status pending`)
    expect(id).toMatch(/^txn_/)
    expect(await outcomeOf(withdrawAs(ctx, user))).toBe('WITHDRAWAL_003')
    expect(await run(`transaction ${command} ${id}`)).toEqual({ transaction_id: id, status })
    expect(await refusal(`transaction settle ${id}`)).toContain(`This transaction is ${status} already.`)
    expect(await ctx.db.transactionAuditLog.findMany({ where: { transactionId: id } })).toMatchObject([
      { action: 'transaction.added' },
      { action: `transaction.${status}`, userId: user.userId },
    ])
    expect(await outcomeOf(withdrawAs(ctx, user))).toBe('accepted')
  }
})

test('when commands end the same transaction concurrently, exactly one has an effect', async () => {
  const { userId } = await givenUser(ctx)
  for (let round = 0; round < 3; round++) {
    const { transaction_id: id = '' } = await run(`transaction add --user ${userId} --status pending`)
    const lines = [`transaction settle ${id}`, `transaction cancel ${id}`, `transaction settle ${id}`]
    const outcomes = await Promise.all(lines.map((line) => outcomeOf(run(line))))
    expect(outcomes.sort()).toEqual(['REQUEST_001', 'REQUEST_001', 'accepted'])
    const { status } = await ctx.db.transaction.findUniqueOrThrow({ where: { id } })
    const audited = await ctx.db.transactionAuditLog.findMany({
      where: { transactionId: id },
      orderBy: { action: 'asc' },
    })
    expect(audited.map(({ action }) => action).sort()).toEqual(['transaction.added', `transaction.${status}`].sort())
  }
})

test('a service token is created with its scopes and hosts, shown once, listed and revoked', async () => {
  const before = ctx.clock.now().getTime()
  const line = 'service-token create --name billing --scope users:read --scope users:write --scope users:read'
  const made = await run(`${line} --host Billing.example.com --host pay.example.com:8443`)
  expect(made).toEqual({
    service_token_id: expect.stringMatching(/^svt_[\w-]{22}$/),
    service_token: expect.stringMatching(/^svc_[\w-]{43}$/),
    expires_at: new Date(before + 365 * day).toISOString(),
  })
  const own = { service_token_id: made.service_token_id }
  expect(await listed('service_tokens', 'service-token list')).toEqual([
    {
      ...own,
      name: 'billing',
      scopes: ['users:read', 'users:write'],
      hosts: ['billing.example.com', 'pay.example.com:8443'],
      app_id: null,
      created_at: ctx.clock.now().toISOString(),
      expires_at: made.expires_at,
      last_used_at: null,
    },
  ])
  expect(await authenticate(ctx, made.service_token ?? '')).toMatchObject({ kind: 'service_token', userId: '' })
  expect(await run(`service-token revoke ${made.service_token_id}`)).toEqual({ ...own, revoked: true })
  expect(await authenticate(ctx, made.service_token ?? '')).toBeNull()
  expect(await listed('service_tokens', 'service-token list')).toEqual([])
  expect(await refusal(`service-token revoke ${made.service_token_id}`)).toContain('no service token with this ID')
  const audits = await ctx.db.auditEvent.findMany({ where: { subjectId: made.service_token_id ?? '' } })
  expect(audits.map(({ action, actor }) => `${action} by ${actor}`).sort()).toEqual([
    'service_token.created by operator',
    'service_token.revoked by operator',
  ])
})

test.each([
  ['service-token create --scope users:read', '--name is missing'],
  ['service-token create --name x', '--scope is missing: one or more of users:read'],
  ['service-token create --name x --scope email:manage', '--scope must be one or more of users:read'],
  ['service-token create --name x --scope users:read --expires-in soon', '--expires-in must be an ISO 8601 duration'],
  ['service-token create --name x --scope users:read --host a.test/path', '--host must be a host'],
  ['service-token create --name x --scope tasks:work', '--scope tasks:work needs --app'],
  ['service-token create --name x --scope users:read --app app_unknown', '--app needs --scope tasks:work'],
  ['service-token create --name x --scope tasks:work --app app_unknown', 'There is no application with this ID'],
  ["service-token create --name ' ' --scope users:read", '--name must be text of one line'],
])('%s is refused: %s', async (line, sentence) => {
  const before = await ctx.db.serviceToken.count()
  expect(await refusal(line)).toContain(sentence)
  expect(await ctx.db.serviceToken.count()).toBe(before)
})

/** The store of a context is its own, while the database is shared. */
const beginLedger = () => ctx.db.erasureLedgerHead.updateMany({ data: { batchSeq: 0 } })

test('a withdrawal by the operator notifies the person, and the audit says who asked', async () => {
  await beginLedger()
  const user = await givenUser(ctx)
  const answer = await run(`withdrawal start --user ${user.userId} --reason privacy_concerns`)
  expect(answer).toMatchObject({
    status_token: expect.stringMatching(/^wst_/),
    user_id: user.userId,
    withdrawal_id: expect.stringMatching(/^wd_/),
    status: 'processing',
  })
  expect(await run(`withdrawal show ${answer.withdrawal_id}`)).toMatchObject({ reason: 'privacy_concerns' })
  await expect(asUser(ctx, user)).rejects.toThrow('the session has ended')
  const audit = await ctx.db.auditEvent.findFirstOrThrow({ where: { subjectId: answer.withdrawal_id ?? '' } })
  expect(audit).toMatchObject({ action: 'account.withdrawn', actor: 'operator' })
  // The command ends at once; the sweep sends the message.
  expect(ctx.mailbox).toEqual([])
  await runDueWork(ctx)
  expect(ctx.mailbox.map(({ to, message }) => [to, message.template])).toEqual([
    [user.email, 'account-withdrawal-started'],
  ])
  expect(await refusal(`withdrawal start --user ${user.userId}`)).toBe(NO_USER)
  const { userId } = await givenUser(ctx)
  expect(await shown(`withdrawal start --user ${userId}`)).not.toContain('wst_')
})

test('a withdrawal by the operator is refused for an unknown reason, a reason without its words, and pending transactions', async () => {
  await beginLedger()
  const { userId } = await givenUser(ctx)
  expect(await refusal(`withdrawal start --user ${userId} --reason bored`)).toContain('--reason must be one of')
  expect(await refusal(`withdrawal start --user ${userId} --reason other`)).toBe('--reason other needs --feedback.')
  await run(`transaction add --user ${userId} --status pending`)
  expect(await refusal(`withdrawal start --user ${userId}`)).toContain('Held back: 1 pending transaction.\n')
  expect(await ctx.db.user.count({ where: { id: userId, withdrawnAt: null } })).toBe(1)
})

test('user show and user find are noted with the account and without what was asked for', async () => {
  const { userId, email } = await givenUser(ctx)
  await run(`user find --email ${email}`)
  await run(`user show ${userId}`)
  await refusal('user find --email nobody@example.test')
  const noted = await ctx.db.auditEvent.findMany({ where: { action: 'account.looked_up', userId } })
  expect(noted).toMatchObject([
    { userId, actor: 'operator', actorId: null, subjectId: null, ip: null },
    { userId, actor: 'operator', actorId: null, subjectId: null, ip: null },
  ])
})

test('user send-reset mails the person a link that sets a new password, and support learns none', async () => {
  const user = await givenUser(ctx)
  const { userId, email } = user
  expect(await run(`user send-reset --user ${userId}`)).toEqual({ user_id: userId, email, accepted: true })
  await ctx.settle()
  await confirmPasswordReset(asNobody(ctx, resetTokenTo(ctx, user.email)), { new_password: 'staple carries a lantern' })
  const audits = await ctx.db.auditEvent.findMany({
    where: { userId: user.userId, action: 'password_reset.requested' },
  })
  expect(audits).toMatchObject([{ actor: 'operator', ip: null }])
  expect(await refusal('user send-reset --user usr_unknown')).toBe(NO_USER)
  const queued = `The mail to ${email} is queued: it is sent within a minute, or once the mail server takes it.`
  expect(await shown(`user send-reset --user ${user.userId}`)).toBe(queued)
})

test.each([
  [{ status: 0, problem: 'ECONNREFUSED' }, 'Connection refused: nothing listens at 127.0.0.1:9 (ECONNREFUSED).'],
  [{ status: 500 }, 'The ping failed: HTTP 500.'],
  [{ status: 404 }, 'The ping failed: HTTP 404.'],
  [{ status: 302 }, 'The ping failed: HTTP 302.'],
  [{ status: 204 }, undefined],
])('a ping that is answered with %j fails: %s', async (answer, error) => {
  const id = await givenApp('Shop')
  ctx.callApp = async () => answer
  const shown = await run(`app ping ${id}`)
  expect(shown).toMatchObject(answer)
  expect(shown.error?.replace(/, after \d+ ms/, '')).toBe(error)
})

test('an application is given by its name, unless two have it', async () => {
  const id = await givenApp('Only one')
  expect(await run('app disable "Only one"')).toMatchObject({ app_id: id })
  expect(await run('task list --app "only ONE"')).toMatchObject({ tasks: [] })
  const twins = [await givenApp('Twin'), await givenApp('Twin')].sort()
  expect(await refusal('app ping Twin')).toBe(
    `Several applications have this name: ${twins.map((twin) => `${twin} (Twin)`).join(', ')}. Give the ID of one.`,
  )
  const written = await givenApp('TWIN')
  expect(await run('app disable TWIN')).toMatchObject({ app_id: written })
})

test('a name of an application that is not whole or has a slip is answered with those that may be meant', async () => {
  for (const name of ['Warehouse', 'Mail archive', 'Mail gate']) await givenApp(name)
  const none = 'There is no application with this name'
  for (const given of ['ware', 'Warehuose', 'WAREHOUSE-'])
    expect(await refusal(`app show ${given}`)).toBe(`${none}. Did you mean Warehouse?`)
  expect(await refusal('app disable mail')).toBe(`${none}. Did you mean Mail archive or Mail gate?`)
  expect(await refusal('app remove archive --waive gone')).toBe(`${none}. Did you mean Mail archive?`)
  for (const given of ['house', "''"]) expect(await refusal(`app show ${given}`)).not.toContain('Did you mean')
})

test('the open tasks of an application that a terminal shows begin with those that need help', async () => {
  const { id, appId, appName } = await givenTask()
  const { withdrawalId } = await givenWithdrawal(ctx)
  const failing = await ctx.db.deletionTask.findFirstOrThrow({ where: { id } })
  const [due, later] = [ctx.clock.now(), new Date(ctx.clock.now().getTime() + day)]
  await ctx.db.deletionTask.update({
    where: { id },
    data: { attempts: 3, lastError: 'HTTP 503', firstTriedAt: due, dueAt: later },
  })
  await ctx.db.deletionTask.create({
    data: { ...failing, id: `${id}x`, withdrawalId, dueAt: due, retained: undefined },
  })
  const first = async () => (await shown(`task list --app ${appId}`)).split('\n')[2]
  expect((await listed('tasks', `task list --app ${appId}`)).map(({ task_id }) => task_id)).toEqual([`${id}x`, id])
  expect(await first()).toMatch(new RegExp(`^${appName} +Failing`))
})

test('an application is given by the beginning of its id, unless two begin so', async () => {
  for (const id of ['app_sameid1', 'app_sameid2'])
    await ctx.db.connectedApp.update({ where: { id: await givenApp('Same') }, data: { id } })
  expect(await refusal('app disable app_sameid')).toBe(
    'Several IDs begin so: app_sameid1, app_sameid2. Type more of the ID.',
  )
  await run('app remove app_sameid2')
  expect(await run('app disable app_sameid')).toMatchObject({ app_id: 'app_sameid1' })
  expect(await refusal('app remove app_sameid')).toBe('app remove cannot be undone: give the whole ID, app_sameid1.')
  expect(await refusal('app disable app_samei')).toBe(TOO_SHORT)
})

test('an account and a withdrawal are given by the beginning of their id, and a withdrawal by one of its deletion tasks', async () => {
  const { userId, withdrawalId, id: task } = await givenTask()
  const prefix = withdrawalId.slice(0, 'wd_'.length + 6)
  for (const line of ['withdrawal show', 'withdrawal retry', 'receipt show', 'task list --withdrawal']) {
    if (line !== 'receipt show') expect(await run(`${line} ${prefix}`)).toEqual(await run(`${line} ${withdrawalId}`))
    expect(await refusal(`${line} ${prefix.slice(0, -1)}`)).toBe(TOO_SHORT)
    expect(await refusal(`${line} ${withdrawalId}x`)).toContain('with this ID')
    for (const end of ['…', '...']) {
      if (line !== 'receipt show')
        expect(await run(`${line} ${prefix}${end}`)).toEqual(await run(`${line} ${withdrawalId}`))
      expect(await refusal(`${line} ${prefix.slice(0, -1)}${end}`)).toBe(TOO_SHORT)
    }
  }
  for (const id of [userId.slice(0, 10), task])
    expect(await run(`withdrawal show ${id}`)).toMatchObject({ withdrawal_id: withdrawalId })
  expect(await refusal(`archive accept-loss --withdrawal ${prefix}`)).toContain(`give the whole ID, ${withdrawalId}.`)
  const { userId: other, email } = await givenUser(ctx)
  await ctx.db.user.update({ where: { id: other }, data: { externalId: 'customer-43' } })
  const beginning = other.slice(0, 'usr_'.length + 6)
  for (const line of [
    `user show ${beginning}`,
    `user show ${beginning}…`,
    `user find ${beginning}`,
    'user find customer-43',
  ])
    expect(await run(line)).toMatchObject({ user_id: other, email })
  expect(await run(`session list --user ${beginning}`)).toMatchObject({ user_id: other })
  expect(await refusal(`withdrawal start --user ${beginning}`)).toBe(
    `withdrawal start cannot be undone: give the whole ID, ${other}.`,
  )
})

/** The question of a command, or its refusal before it asks. */
async function question(line: string): Promise<string> {
  const call = parseCall(COMMANDS, splitWords(line), { inBatch: false })
  const ask = async (text: string) => {
    throw new Error(text)
  }
  return call.run(ctx, null, ask).then(() => 'nothing was asked', sentenceOf)
}

test('what cannot be undone asks with what it concerns, once it knows that it may', async () => {
  await beginLedger()
  const { userId, email } = await givenUser(ctx)
  const start = `withdrawal start --email ${email}`
  expect(await question(start)).toBe(`Delete the account of Ada Lovelace (${email})?`)
  expect(await question(`withdrawal start --user ${userId} --reason other`)).toBe('--reason other needs --feedback.')
  await run(`transaction add --user ${userId}`)
  const [{ id: order } = {}] = await ctx.db.transaction.findMany({ where: { userId } })
  expect((await question(start)).split('\n')).toEqual([
    'Held back: 1 pending transaction.',
    `${order}: Added by the operator`,
    `transaction settle ${order} if the money has gone through, transaction cancel if it was called off.`,
  ])
  expect(await question('withdrawal start --user usr_unknown')).toBe(NO_USER)
  await run(`transaction cancel ${order}`)
  const at = ctx.clock.now()
  const pushed = { userId, source: 'shop two', code: 'open_order', title: 'Order 9 is on its way', createdAt: at }
  await ctx.db.withdrawalBlocker.createMany({ data: ['order-9', "o'9"].map((key) => ({ ...pushed, key })) })
  const held = [
    'Held back: 2 blockers.',
    ...['order-9', "'o'\\''9'"].flatMap((key) => [
      'shop two: Order 9 is on its way',
      'To end it:',
      `  blocker end --user ${userId} --source 'shop two' --key ${key}`,
    ]),
  ]
  expect((await question(start)).split('\n').toSorted()).toEqual(held.toSorted())
  expect((await refusal(start)).split('\n').toSorted()).toEqual(held.toSorted())
  for (const line of held.filter((one) => one.startsWith('  '))) await run(line)
  expect(await question(start)).toBe(`Delete the account of Ada Lovelace (${email})?`)

  const { id, appId, appName, withdrawalId, userId: gone } = await givenTask()
  const sentence = ENGLISH.Deletion.apps.waived.gone
  expect(await question(`task waive ${id} --reason gone`)).toBe(
    `Stop waiting for ${appName} in the deletion ${withdrawalId}? The person reads: “${sentence}”`,
  )
  expect(await question(`task waive ${id} --reason bored`)).toContain('The reason must be one of')
  expect(await question('task waive msg_none --reason gone')).toContain('no deletion task with this ID')
  expect(await question(`app remove ${appId} --waive gone`)).toBe(
    `Remove ${appName}, which has 1 open deletion task? Each person reads: “${sentence}”`,
  )
  expect(await question(`app remove ${appId}`)).toContain('1 open deletion task. Wait, or')
  expect(await question(`archive accept-loss --withdrawal ${withdrawalId}`)).toBe('nothing was asked')
  await ctx.db.archive.create({
    data: { id: 'arc_lost', userId: gone, objectKey: 'lost.bin', bytes: 1, createdAt: at, storedAt: at },
  })
  expect(await question(`archive accept-loss --withdrawal ${withdrawalId}`)).toBe(
    `Take 1 archive of the deletion ${withdrawalId} as lost, so that its step can end?`,
  )
  expect(await run(`archive accept-loss --withdrawal ${withdrawalId}`)).toMatchObject({ lost_archives: 1 })
  expect(await question('ledger trim --before 2026-11-20T08:00:00Z')).toContain(
    'Drop the lines of the ledger before 20 Nov',
  )
  expect(await question(`app remove ${appId} --waive gone --yes`)).toBe('nothing was asked')
  expect(await question(`task waive ${id} --reason refused`)).toBe('The task is completed or waived already.')
})

test('what ends access or changes a secret asks with whom or what it concerns, and nothing is done before', async () => {
  const { userId, email, sessionId } = await givenUser(ctx)
  const ada = `Ada Lovelace (${email})`
  const app = await givenApp('Asked')
  const { service_token_id: crm } = await run('service-token create --name crm --scope users:read')
  await givenToken(userId)
  const [{ token_id: token } = {}] = await listed('access_tokens', `token list --user ${userId}`)
  const { transaction_id: order } = await run(`transaction add --user ${userId} --title 'Order 1077' --amount 12EUR`)
  const blocker = { userId, source: 'billing', key: 'k', code: 'unpaid', title: 'Invoice 7' }
  await ctx.db.withdrawalBlocker.create({ data: { ...blocker, createdAt: ctx.clock.now() } })
  const questions = {
    [`session end ${sessionId}`]: `End the session of ${ada}, last seen ${timeOf(ctx.clock.now(), ctx.clock.now())} from 192.0.2.1?`,
    [`session end --email ${email}`]: `End every session of ${ada}, and cancel a pending change of the address?`,
    [`token revoke ${token}`]: `Revoke the access token export of ${ada}?`,
    [`transaction settle ${order}`]: `Settle “Order 1077, €12.00” of ${ada}? Settle it if the money has gone through. This moves no money.`,
    [`transaction cancel ${order}`]: `Cancel “Order 1077, €12.00” of ${ada}? Cancel it if it was called off. This moves no money.`,
    [`blocker end --email ${email} --source billing --key k`]: `End “Invoice 7” of ${ada}? billing is not told, and may hold the account back again.`,
    [`token revoke --user ${userId}`]: `Revoke every access token of ${ada}?`,
    [`service-token revoke ${crm}`]: 'Revoke the token of crm? Its service is refused from then on.',
    [`user set-password --user ${userId} --password staple-lantern`]: `Set the password of ${ada}? Every session and access token ends, and a pending change is cancelled.`,
    [`user set-email --user ${userId} --email b@example.test`]: `Give ${ada} the address b@example.test? Every browser session ends. If the old address was verified, it gets a link that undoes this.`,
    [`user set-email --user ${userId} --email b@example.test --old-mailbox lost`]: `Give ${ada} the address b@example.test? Every browser session ends. The old mailbox gets no link to undo this, and all earlier links end.`,
    [`app rotate-secret ${app}`]: 'Make a new signing secret for Asked? The one before signs for a day.',
    'key rotate': 'Publish a new key, which signs a day later?',
    'key rotate --now': 'Sign with a new key at once, and never again with the keys before it?',
    'ledger replay': 'Delete again every account that the erasure ledger has and this database still has too?',
  }
  for (const [line, text] of Object.entries(questions)) expect(await question(line)).toBe(text)
  expect(await question('user set-password --user usr_unknown --password x')).toBe(NO_USER)
  expect(await question('service-token revoke svt_none')).toContain('no service token with this ID')
  expect(await question('session end ses_none')).toContain('no session with this ID')
  expect(await question('token revoke tok_none')).toContain('no access token with this ID')
  expect(await question('transaction settle txn_unknown')).toContain('no transaction with this ID')
  expect(await question('transaction settle txn_12345')).toBe(TOO_SHORT)
  expect(await question(`transaction settle ${order?.slice(0, 10)}`)).toContain(`give the whole ID, ${order}.`)
  expect(await question(`blocker end --email ${email} --source billing --key x`)).toContain('no such blocker')
  await run(`transaction cancel ${order}`)
  expect(await question(`transaction settle ${order}`)).toBe('This transaction is cancelled already.')
  expect(await run(`session list --user ${userId}`)).toMatchObject({ sessions: [{ session_id: sessionId }] })
  expect((await run(`user show ${userId}`)).email).toBe(email)
})

test('a pushed blocker is listed and ended, also of an account with a role', async () => {
  const { userId, email } = await givenUser(ctx)
  await ctx.db.user.update({ where: { id: userId }, data: { role: 'operator' } })
  const row = { userId, source: 'billing', key: 'invoice 7', code: 'unpaid', title: 'Invoice 7' }
  await ctx.db.withdrawalBlocker.create({ data: { ...row, createdAt: ctx.clock.now() } })
  const listed = { source: 'billing', key: 'invoice 7', title: 'Invoice 7' }
  expect(await run(`blocker list --email ${email}`)).toMatchObject({ user_id: userId, pushed_blockers: [listed] })
  const end = `blocker end --user ${userId} --source billing --key 'invoice 7'`
  expect(await run(end)).toEqual({ user_id: userId, source: 'billing', key: 'invoice 7', removed: true })
  expect(await run(`blocker list --user ${userId}`)).toMatchObject({ pushed_blockers: [] })
  expect(await refusal(end)).toBe('The account has no such blocker: blocker list shows all.')
  const audits = await ctx.db.auditEvent.findMany({ where: { userId, action: 'withdrawal.blocker_removed' } })
  expect(audits).toMatchObject([{ actor: 'operator', actorId: null }])
})

test('an application that is disabled or enabled says what waits or follows', async () => {
  const { withdrawalId, appId, appName } = await givenTask()
  ctx.clock.advance(1)
  expect(await shown(`app disable ${appId}`)).toBe(`${appName} is disabled; 1 deletion task waits.`)
  expect(await shown(`app disable ${appId}`)).toBe(`${appName} is disabled already.`)
  expect(
    await ctx.db.auditEvent.count({ where: { action: { in: ['app.disabled', 'app.changed'] }, subjectId: appId } }),
  ).toBe(1)
  expect((await run(`app show ${appId}`)).audit).toMatchObject([
    { action: 'app.disabled' },
    { action: 'app.registered' },
  ])
  const notes = noted()
  await ctx.db.deletionTask.updateMany({ where: { withdrawalId }, data: { attempts: 1, lastError: 'HTTP 500' } })
  expect(await shown(`withdrawal retry ${withdrawalId}`)).toBe('Nothing was tried.')
  expect(notes).toEqual([[`${appName} is disabled: enable it first.\n`]])
  expect(await shown(`app enable ${appId}`)).toBe(`${appName} is enabled; 1 deletion task follows.`)
  ctx.apps.answer = async () => ({ status: 503 })
  await pass(ctx, 60 * minute)
  onTerminal()
  const retried = run(`withdrawal retry ${withdrawalId}`)
  await expect.poll(() => notes.slice(1)).toEqual([[expect.stringContaining('It is tried within a minute')]])
  await runDueWork(ctx)
  // An answer with an error ends the command with the exit code 1.
  expect(await retried).toMatchObject({ is_tried: true, error: `Failed again: ${appName} (HTTP 503).` })
  const [task] = await listed('tasks', `task list --app ${appId}`)
  expect(task).toMatchObject({ last_error: 'HTTP 503', failing_since: expect.any(String) })
  expect(await run(`app show ${appId}`)).toMatchObject({ since: task?.failing_since, tasks: [task] })
})

test('an application that is changed or removed is told in the words of its page', async () => {
  const id = await givenApp('Later')
  const changed = await shown(`app set ${id} --acknowledges later --acknowledge-within PT48H`)
  expect(changed).toMatch(/^A deletion task is complete +When it reports so, within 2 days$/m)
  expect(await shown(`app remove ${id}`)).toBe('The app is removed.')
  const { appId } = await givenTask()
  expect(await shown(`app remove ${appId} --waive gone`)).toBe('The app is removed. Stopped waiting in 1 deletion.')
})

test('the start of a withdrawal says how many days records are kept, and has the steps in the order of the page', async () => {
  await beginLedger()
  const lines = (await shown(`withdrawal start --user ${(await givenUser(ctx)).userId}`)).split('\n')
  const [id] = lines.flatMap((line) => /^Deletion +(wd_\S+)/.exec(line)?.[1] ?? [])
  expect(lines).toContainEqual(expect.stringMatching(/^Data retention period +30 days$/))
  const stepsIn = (text: string) => text.match(/^(Account switched off|Profile|Connected apps|Archives)/gm)
  expect(stepsIn(lines.join('\n'))).toHaveLength(4)
  expect(stepsIn(lines.join('\n'))).toEqual(stepsIn(await shown(`withdrawal show ${id}`)))
})

test('a completed withdrawal says that an application has not confirmed', async () => {
  const { withdrawalId, id } = await givenTask()
  expect(await shown(`task waive ${id} --reason gone`)).toBe(
    `Nobody waits for this task any more. The person reads: “${ENGLISH.Deletion.apps.waived.gone}”`,
  )
  ctx.clock.advance(1)
  expect(await shown(`task waive ${id} --reason gone`)).toContain('The task was waived already.')
  for (let days = 0; days < 8; days++) await pass(ctx, day)
  const completed = await listed('withdrawals', 'withdrawal list --state completed')
  expect(completed).toContainEqual(
    expect.objectContaining({ withdrawal_id: withdrawalId, problem: '1 app has not confirmed' }),
  )
  const lines = await shown(`withdrawal show ${withdrawalId}`)
  expect(lines).toMatch(/^Status +Completed, 1 app has not confirmed$/m)
  expect(lines).toMatch(/^Connected apps +Completed, 1 app has not confirmed/m)
  expect(lines).toContain(`  The person reads: ${ENGLISH.Deletion.apps.waived.gone}\n`)
})

test('a withdrawal says on a terminal what fails and what is late, as its page does', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx, ['Shop'])
  const of = { withdrawalId, step: 'user_profile' }
  const status = async () => /^Status +(.+)$/m.exec(await shown(`withdrawal show ${withdrawalId}`))?.[1]
  expect(await status()).toBe('In progress')
  await ctx.db.deletionStep.updateMany({ where: of, data: { attempts: 2, lastError: 'timeout' } })
  expect(await status()).toBe('In progress, failing')
  ctx.clock.advance(8 * day)
  const step = await ctx.db.deletionStep.findUniqueOrThrow({ where: { withdrawalId_step: of } })
  const planned = timeOf(step.estimatedCompletion, new Date())
  expect(await status()).toBe(`In progress, failing, late since ${planned}`)
  expect(await shown(`withdrawal show ${withdrawalId}`)).toMatch(
    /^Profile .+ In progress, failing, late +no answer in time \(timeout\) .+ 2\n {2}Late since: \d/m,
  )
  const problemInList = async () => {
    const { withdrawals } = (await run('withdrawal list')) as unknown as { withdrawals: Answer[] }
    return withdrawals.find(({ withdrawal_id }) => withdrawal_id === withdrawalId)?.problem
  }
  expect(await problemInList()).toBe('late, timeout')
  await ctx.db.deletionStep.updateMany({
    where: { withdrawalId, step: 'data_archives' },
    data: { lastError: 'HTTP 503' },
  })
  expect(await problemInList()).toBe('late, timeout, HTTP 503')
  await ctx.db.withdrawal.update({ where: { id: withdrawalId }, data: { dueBy: ctx.clock.now() } })
  ctx.clock.advance(1)
  expect(await problemInList()).toBe('past due, timeout, HTTP 503')
  await ctx.db.withdrawal.delete({ where: { id: withdrawalId } })
})

test('an empty list of withdrawals says of which state', async () => {
  await ctx.db.withdrawal.deleteMany({ where: { purgedAt: { not: null } } })
  expect(await shown('withdrawal list --state purged')).toBe('No deletion is fully erased.')
})

test('the list of applications begins with the worst', async () => {
  const { app_id: good } = await run('app register --name AAA --endpoint http://127.0.0.1:9/')
  const { app_id: disabled } = await run('app register --name ZZZ --endpoint http://127.0.0.1:9/')
  await run(`app disable ${disabled}`)
  const { apps } = (await run('app list')) as unknown as { apps: Answer[] }
  const ids = apps.map(({ app_id }) => app_id)
  expect(ids.indexOf(disabled)).toBeLessThan(ids.indexOf(good))
  await run(`app remove ${disabled}`)
  await run(`app remove ${good}`)
})

test('an application that polls says of a task that it is done by a report, and that it never asked for one', async () => {
  const { app_id: id } = await run('app register --name Poller --poll')
  expect(await shown(`app show ${id}`)).toMatch(/Last asked for its tasks +Never/)
  expect(await run(`app show ${id}`)).toMatchObject({ acknowledges: 'later' })
  expect(await listed('apps', 'app list')).toContainEqual(
    expect.objectContaining({ app_id: id, acknowledges: 'later' }),
  )
})

test('an application with open deletion tasks is removed only with --waive, and the refusal says so', async () => {
  const { appId } = await givenTask()
  const sentence =
    "The application has 1 open deletion task. Wait, or add --waive with gone, refused, unreachable, or a code of the application's --waive-reason."
  expect(await refusal(`app remove ${appId}`)).toBe(sentence)
  expect(await run(`app remove ${appId} --waive gone`)).toMatchObject({ removed: true, waived_tasks: 1 })
})

test('a list of transactions of an empty --user is not the list of everybody', async () => {
  const { userId } = await givenUser(ctx)
  await run(`transaction add --user ${userId} --title Order`)
  expect(await run("transaction list --user ''")).toMatchObject({ transactions: [] })
})

test('the receipts of a withdrawal come with what the newest one says', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx, ['Shop'])
  await runDueWork(ctx)
  expect(await run(`receipt show ${withdrawalId}`)).toMatchObject({
    receipts: [{ kind: 'acceptance' }],
    newest: { withdrawal: { started_at: expect.any(String) } },
  })
  for (let days = 0; days < 8; days++) await pass(ctx, day)
  const lines = await shown(`receipt show ${withdrawalId}`)
  for (const words of ['Of the request', 'Of the completion', 'The account (name', '1 legal record (required by law)'])
    expect(lines).toContain(words)
  expect(lines).toMatch(/^Kept records will be erased /m)
})

test('a task that was tried is asked again, and one that was not keeps its time', async () => {
  const { id } = await givenTask()
  const notes = noted()
  expect(await run(`task retry ${id}`)).toMatchObject({ task_id: id, retried: false, task: { state: 'pending' } })
  expect(await shown(`task retry ${id}`)).toBe('Nothing was tried yet; the task keeps its time.')
  await ctx.db.deletionTask.update({ where: { id }, data: { attempts: 1 } })
  expect(await run(`task retry ${id}`)).toMatchObject({ task_id: id, retried: true })
  const { dueAt } = await ctx.db.deletionTask.findUniqueOrThrow({ where: { id } })
  expect(dueAt).toEqual(ctx.clock.now())
  expect(notes).toEqual([])

  ctx.apps.answer = async () => ({ status: 503 })
  await pass(ctx, 60 * minute)
  onTerminal()
  const retried = run(`task retry ${id}`)
  await expect.poll(() => notes).toEqual([[expect.stringContaining('It is tried within a minute')]])
  await runDueWork(ctx)
  expect(await retried).toMatchObject({ is_tried: true, error: 'Shop failed again: HTTP 503.' })
  ctx.apps.answer = async () => ({ status: 200 })
  const again = shown(`task retry ${id}`)
  await expect.poll(() => notes).toHaveLength(2)
  await runDueWork(ctx)
  expect(await again).toBe('Shop: completed.')
})

test('a retry that nothing tries is waited for no longer than its time', async () => {
  expect(
    await untilTried(
      async () => 'due',
      () => true,
      1,
    ),
  ).toEqual({ last: 'due', isTried: false })
})

test('a second rotation within a day says that the oldest secret has ended', async () => {
  const id = await givenApp('Shop')
  const notes = noted()
  await run(`app rotate-secret ${id}`)
  expect(notes).toEqual([])
  await run(`app rotate-secret ${id}`)
  expect(notes).toEqual([[expect.stringContaining('has ended, a day early')]])
})

test('a retry where nothing has failed says when the next step is due', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  const notes = noted()
  expect(await run(`withdrawal retry ${withdrawalId}`)).toMatchObject({ retried: false })
  const [[note] = []] = notes
  expect(note).toMatch(/^Nothing has failed; the next step is due at 20 Nov \d\d:\d\d \(in 5 min\)\.\n$/)
})

test('an account is named by its address too; one that nobody has verified only to be looked at', async () => {
  const { userId, email } = await givenUser(ctx)
  const { transaction_id: id } = await run(`transaction add --email ${email}`)
  for (const named of [`--user ${userId}`, `--email ${email}`, userId, email])
    expect(await run(`transaction list ${named}`)).toMatchObject({ transactions: [{ transaction_id: id }] })
  expect(await refusal(`transaction list --user ${userId} --email ${email}`)).toBe('Give --user or --email, not both.')
  expect(await run(`session list --email ${email}`)).toMatchObject({ user_id: userId, sessions: [{}] })
  expect(await shown(`session end --email ${email}`)).toMatch(/^1 session ended\./)
  expect(await shown(`token revoke --email ${email}`)).toBe('0 access tokens ended.')
  await ctx.db.user.update({ where: { id: userId }, data: { emailVerifiedAt: null } })
  expect(await run(`transaction list --email ${email}`)).toMatchObject({ transactions: [{ transaction_id: id }] })
  for (const line of ['transaction add', 'withdrawal start', 'token create --scope email:manage'])
    expect(await refusal(`${line} --email ${email}`)).toContain('Nobody has verified this address')
})

test('an operator is made by the address or the id of the account', async () => {
  const { userId, email } = await givenUser(ctx)
  const roleOf = async () => (await run(`user show ${userId}`)).role
  expect(await run(`user set-role --email ${email} --role operator`)).toEqual({ user_id: userId, role: 'operator' })
  expect(await roleOf()).toBe('operator')
  const again = `user set-role --user ${userId} --role operator`
  expect(await run(again)).toEqual({ user_id: userId, role: 'operator', already: true })
  expect(await shown(again)).toBe('The account has the role operator already.')
  await run(`user set-role --user ${userId} --role none`)
  expect(await roleOf()).toBeNull()
  await ctx.db.user.update({ where: { id: userId }, data: { emailVerifiedAt: null } })
  expect(await refusal(`user set-role --email ${email} --role operator`)).toContain('Nobody has verified this address')
  expect(await roleOf()).toBeNull()
  expect(await run(`user set-role --email ${email} --role none`)).toMatchObject({ user_id: userId, role: 'none' })
  expect(await refusal('user set-role --email nobody@example.test --role operator')).toContain(NO_USER)
})
