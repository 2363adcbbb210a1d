import { randomBytes } from 'node:crypto'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { SeenTexts } from '@/domain/accounts/seen-texts'
import type { Transact } from '@/domain/context'
import { OWN_PASSWORD_PREFIX } from '@/domain/passwords/password-formats'
import { signIn } from '@/domain/passwords/sign-in'
import { withdrawAccount } from '@/domain/withdrawal/withdraw-account'
import { asUser, givenUser, pass, type TestContext, testContext } from '@/testing/domain'
import { foreignPasswords } from '@/testing/foreign-passwords'
import { untilWaiting } from '@/testing/outcomes'
import { atStatement } from '@/testing/statements'
import { withdrawAs } from '@/testing/withdrawals'
import { execute, sentenceOf } from './execute.ts'
import { linesOf } from './import-users.ts'

type Result = Record<string, unknown>

const mark = () => randomBytes(5).toString('hex')
const BCRYPT = foreignPasswords.find(({ made_by }) => made_by === 'bcryptjs') as (typeof foreignPasswords)[number]

async function givenFile(content: string | Uint8Array): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'import-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = path.join(directory, 'users.ndjson')
  await writeFile(file, content)
  return file
}

const toFile = (lines: (object | string)[]) =>
  givenFile(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''))

let ctx: TestContext
beforeEach(async () => {
  ctx = await testContext()
})

async function run(...args: string[]): Promise<Result[]> {
  const answer = (await execute(ctx, args, async () => '')) as AsyncIterable<Result[]>
  return (await allOf(answer)).flat()
}

async function allOf<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const part of parts) all.push(part)
  return all
}

const importFile = (file: string, ...more: string[]) => run('user', 'import', '--file', file, ...more)

const given = (more: object = {}, of = mark()) => ({
  external_id: `customer-${of}`,
  email: `${of}@example.test`,
  name: 'Mary Ann',
  ...more,
})

const allUsers = () => ctx.db.user.findMany({ orderBy: { id: 'asc' } })

test('each line becomes an account with all the data of the line', async () => {
  const line = given({
    email: `a..${mark()}.@docomo.ne.jp`,
    email_verified: true,
    locale: 'pt-br',
    created_at: '2020-02-29T12:00:00+01:00',
    password: BCRYPT.given,
  })
  const plain = given({ external_id: null, locale: null, password: null })
  const [created, other] = await importFile(await toFile([line, plain]))
  expect(created).toEqual({
    line: 1,
    external_id: line.external_id,
    result: 'created',
    user_id: expect.stringMatching(/^usr_/),
  })
  expect(other).toEqual({ line: 2, result: 'created', user_id: expect.stringMatching(/^usr_/) })
  expect(await ctx.db.user.findUnique({ where: { id: String(created?.user_id) } })).toMatchObject({
    externalId: line.external_id,
    email: line.email,
    emailKey: line.email,
    emailVerifiedAt: ctx.clock.now(),
    name: 'Mary Ann',
    locale: 'pt-BR',
    createdAt: new Date('2020-02-29T11:00:00Z'),
    passwordHash: BCRYPT.given.value,
  })
  expect(await ctx.db.user.findUnique({ where: { id: String(other?.user_id) } })).toMatchObject({
    externalId: null,
    emailVerifiedAt: null,
    locale: null,
    passwordHash: null,
    createdAt: ctx.clock.now(),
  })
  const audited = { userId: String(created?.user_id), action: 'user.imported' }
  expect(await ctx.db.auditEvent.count({ where: audited })).toBe(1)
  const input = { email: line.email, password: BCRYPT.password, userAgent: 'test', ip: '192.0.2.1' }
  expect(await signIn(ctx, input)).toMatchObject({ userId: created?.user_id })
  await ctx.settle()
})

test('a repeated import changes nothing, even if the person has changed something meanwhile', async () => {
  const lines = [given({ password: BCRYPT.given }), given({ external_id: undefined }), given()]
  const file = await toFile(lines)
  const first = await importFile(file)
  await signIn(ctx, { email: lines[0]?.email ?? '', password: BCRYPT.password, userAgent: 'test', ip: '192.0.2.1' })
  await ctx.settle()
  await ctx.db.user.update({
    where: { id: String(first[2]?.user_id) },
    data: { email: `new-${lines[2]?.email}`, emailKey: `new-${lines[2]?.email}` },
  })
  const before = await allUsers()
  const audited = await ctx.db.auditEvent.count()
  expect(await importFile(file)).toEqual(first.map((result) => ({ ...result, result: 'unchanged' })))
  expect(await allUsers()).toEqual(before)
  expect(await ctx.db.auditEvent.count()).toBe(audited)
})

/** Lines with one fault each, and the sentence for it. */
const WRONG: [object | string, RegExp][] = [
  ['{"external_id": "x"', /^The line is not valid JSON\.$/],
  ['["a"]', /^The line must be one JSON object\.$/],
  ['null', /^The line must be one JSON object\.$/],
  [
    '{"email": "a@example.test", "name": "A", "\\u0065mail": "b@example.test"}',
    /^The line names the same key twice\.$/,
  ],
  [given({ email: undefined }), /^email is missing\.$/],
  [given({ email: 7 }), /^email must be a string\.$/],
  [given({ email: 'no address' }), /^email must hold no space/],
  [given({ email: 'ada' }), /^email must hold an @\.$/],
  [given({ email: 'a@b.test@c.test' }), /^email must be one address\.$/],
  [given({ email: '"ada"@example.test' }), /^email must have no quoted part\.$/],
  [given({ email: 'ada(x)@example.test' }), /without a name or a comment\.$/],
  [given({ email: 'ada%x@example.test' }), /^email must hold no % and no ! before the @\.$/],
  [given({ email: 'ädä@example.test' }), /^email must be ASCII before the @\.$/],
  [given({ email: `${'a'.repeat(65)}@example.test` }), /^email must have from 1 to 64 characters before the @\.$/],
  [given({ email: `a@${'b'.repeat(63)}.${'c.'.repeat(100)}test` }), /^email must have 254 characters at most\.$/],
  [given({ email: 'ada@[192.0.2.1]' }), /^email must have a domain, not an IP address\.$/],
  [given({ email: 'ada@example.test.' }), /^email must not end with a dot\.$/],
  [given({ email: 'ada@localhost' }), /two labels at least\.$/],
  [given({ email: 'ada@192.0.2.1' }), /whose last label is no number\.$/],
  [given({ email: 'ada@ｅxample.test' }), /normal form \(NFKC\)\.$/],
  [given({ email: 'ada@-.test' }), /^email must be one plain address/],
  [given({ email_verified: 'yes' }), /^email_verified must be true or false\.$/],
  [given({ name: undefined }), /^name is missing\.$/],
  [given({ name: ' ' }), /^name must be text of one line/],
  [given({ name: 'two\nlines' }), /^name must be text of one line/],
  [given({ name: 'nul\0' }), /^name contains characters that cannot be stored/],
  [given({ locale: 'not a locale' }), /^locale must be a BCP 47 language tag/],
  [given({ created_at: '1 January 2020' }), /^created_at must be a time such as/],
  [given({ created_at: '2023-02-29T00:00:00Z' }), /^created_at must be a time such as/],
  [given({ created_at: '0000-01-01T00:00:00+01:00' }), /^created_at must be a time such as/],
  [given({ created_at: '2999-01-01T00:00:00Z' }), /^created_at must not be in the future\.$/],
  [given({ external_id: 7 }), /^external_id must be a string\.$/],
  [given({ external_id: '' }), /^external_id must have from 1 to 255 bytes\.$/],
  [given({ external_id: 'ü'.repeat(128) }), /^external_id must have from 1 to 255 bytes\.$/],
  [given({ external_id: 'a\tb' }), /^external_id must hold no control character\.$/],
  [given({ external_id: '..' }), /^external_id must not be/],
  [given({ external_id: 'usr_1' }), /^external_id must not be/],
  [given({ password: 'secret' }), /^password must be an object/],
  [given({ password: { format: 'md5', value: 'x' } }), /^The password format "md5" is not supported\./],
  [given({ password: { format: 'bcrypt', value: `$2b$15$${'.'.repeat(53)}` } }), /cost must be from 4 to 14\.$/],
]

test('an import says how many lines and problems there were', async () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  const seconds = /\d+\.\d/
  const lastOutput = () => String(write.mock.calls.at(-1)?.[0]).replace(seconds, '…')
  await importFile(await toFile([given()]))
  expect(lastOutput()).toBe('1 line in … s, 0 refused.\n')
  await importFile(await toFile([given(), '{}']), '--check')
  expect(lastOutput()).toMatch(/^2 lines in … s, \d problems?\.\n$/)
})

test('a refused line says in one sentence what is wrong, and stops no other', async () => {
  const [held, before] = [await givenUser(ctx), await ctx.db.user.count()]
  const twice = given()
  const lines = [
    ...WRONG.map(([line]) => line),
    given({ email: held.email.toUpperCase().replace('EXAMPLE.TEST', 'example.test') }),
    twice,
    given({ external_id: twice.external_id }),
    given({ email: twice.email.toUpperCase() }),
    given(),
  ]
  const results = await importFile(await toFile(lines))
  expect(results.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 1))
  for (const [index, [line, sentence]] of WRONG.entries()) {
    expect({ line, ...results[index] }).toMatchObject({ result: 'refused', error: expect.stringMatching(sentence) })
  }
  expect(results.slice(WRONG.length)).toMatchObject([
    { result: 'refused', code: 'EMAIL_002', error: 'email is the address of another account.' },
    { result: 'created' },
    { result: 'refused', error: `external_id is the same as in line ${WRONG.length + 2}.` },
    { result: 'refused', code: 'EMAIL_002', error: `email is the same address as in line ${WRONG.length + 2}.` },
    { result: 'created' },
  ])
  expect(await ctx.db.user.count()).toBe(before + 2)
})

test('--check lists every problem of every line, and writes nothing', async () => {
  const held = await givenUser(ctx)
  const before = [await allUsers(), await ctx.db.auditEvent.count()]
  const bad = given({ locale: '?', email: 'ada', password: { format: 'md5' } })
  const lines = [bad, given(), given({ external_id: bad.external_id }), given({ email: held.email }), given()]
  const problems = await importFile(await toFile(lines), '--check')
  expect(problems).toEqual([
    { line: 1, external_id: bad.external_id, code: 'EMAIL_001', error: 'email must hold an @.' },
    { line: 1, external_id: bad.external_id, code: 'REQUEST_001', error: expect.stringContaining('locale') },
    { line: 1, external_id: bad.external_id, code: 'REQUEST_001', error: expect.stringContaining('"md5"') },
    { line: 3, external_id: bad.external_id, code: 'REQUEST_001', error: 'external_id is the same as in line 1.' },
    { line: 4, external_id: expect.any(String), code: 'EMAIL_002', error: 'email is the address of another account.' },
    { lines: 5, problems: 5 },
  ])
  expect([await allUsers(), await ctx.db.auditEvent.count()]).toEqual(before)
  const good = await toFile([given(), given()])
  expect(await importFile(good, '--check')).toEqual([{ lines: 2, problems: 0 }])
  await importFile(good)
  expect(await importFile(good, '--check')).toEqual([{ lines: 2, problems: 0 }])
})

test('an account without an external id is not mistaken for one with an external id and the same address', async () => {
  const [plain, named] = [given({ external_id: undefined }), given()]
  await importFile(await toFile([plain, named]))
  expect(
    await importFile(await toFile([given({ email: plain.email }), { ...named, external_id: undefined }])),
  ).toMatchObject([
    { result: 'refused', code: 'EMAIL_002' },
    { result: 'refused', code: 'EMAIL_002' },
  ])
})

test('two concurrent imports of the same file create each account once', async () => {
  const lines = Array.from({ length: 1_500 }, () => given())
  const [file, reversed] = [await toFile(lines), await toFile(lines.toReversed())]
  const both = await Promise.all([importFile(file), importFile(reversed)])
  const byId = Map.groupBy(both.flat(), ({ external_id }) => external_id)
  for (const results of byId.values()) {
    expect(results.map(({ result }) => result).sort()).toEqual(['created', 'unchanged'])
    expect(new Set(results.map(({ user_id }) => user_id)).size).toBe(1)
  }
  expect(byId.size).toBe(lines.length)
})

test('an export can be imported elsewhere without loss', async () => {
  const gone = await givenUser(ctx)
  await withdrawAs(ctx, gone)
  await givenUser(ctx)
  const passwords = foreignPasswords.map((fixture) =>
    given({ password: fixture.given, locale: 'de', email_verified: true }),
  )
  await importFile(await toFile([...passwords, given({ created_at: '2001-02-03T04:05:06.789Z' })]))
  const exported = await run('user', 'export', '--all')
  expect(exported.length).toBe(await ctx.db.user.count({ where: { withdrawnAt: null } }))
  expect(exported.map(({ email }) => email)).not.toContain(gone.email)
  const asStored = ({
    id,
    version,
    emailVerifiedAt,
    ledgerMark,
    neverSignedIn,
    ...user
  }: Awaited<ReturnType<typeof allUsers>>[number]) => ({
    ...user,
    isVerified: emailVerifiedAt !== null,
  })
  const byAddress = async () =>
    (await ctx.db.user.findMany({ where: { withdrawnAt: null }, orderBy: { email: 'asc' } })).map(asStored)
  const before = await byAddress()
  expect(before.some(({ passwordHash }) => passwordHash?.startsWith(OWN_PASSWORD_PREFIX))).toBe(true)
  await ctx.db.user.deleteMany({ where: { withdrawnAt: null } })
  const results = await importFile(await toFile(exported))
  expect(results.every(({ result }) => result === 'created')).toBe(true)
  expect(await byAddress()).toEqual(before)
})

test('the external id of a withdrawn account is refused, line by line, until its retention has ended', async () => {
  const [again, other] = [given(), given()]
  const gone = await givenUser(ctx)
  await ctx.db.user.update({ where: { id: gone.userId }, data: { externalId: again.external_id } })
  await withdrawAs(ctx, gone)
  const file = await toFile([again, other])
  const refusal = { line: 1, external_id: again.external_id, code: 'USER_002', error: expect.any(String) }
  expect(await importFile(file, '--check')).toEqual([refusal, { lines: 2, problems: 1 }])
  expect(await importFile(file)).toEqual([
    { ...refusal, result: 'refused' },
    expect.objectContaining({ line: 2, result: 'created' }),
  ])
  await pass(ctx, ctx.limits.withdrawalRetentionMs + 1)
  expect((await importFile(file)).map(({ result }) => result)).toEqual(['created', 'unchanged'])
})

/** An import of one line. Just before it runs the statement of this name, it calls `meanwhile` once. */
async function importWith(line: { external_id: string }, name: string, meanwhile: () => Promise<unknown>) {
  const countImported = () => ctx.db.auditEvent.count({ where: { action: 'user.imported' } })
  const before = await countImported()
  let isDone = false
  ctx = atStatement(ctx, name, async (run) => {
    if (!isDone) {
      isDone = true
      await meanwhile()
    }
    return run()
  })
  const [result] = await importFile(await toFile([line]))
  expect(isDone).toBe(true)
  const accounts = await ctx.db.user.count({ where: { externalId: line.external_id, withdrawnAt: null } })
  return { result, accounts, audited: (await countImported()) - before }
}

const REFUSED = { result: { result: 'refused', code: 'USER_002' }, accounts: 0, audited: 0 }

async function givenWithdrawalOf(line: { external_id: string }) {
  const user = await givenUser(ctx)
  const caller = await asUser(ctx, user)
  return async (transact = ctx.transact) => {
    await ctx.db.user.update({ where: { id: user.userId }, data: { externalId: line.external_id } })
    await withdrawAccount({ ...caller, transact }, { userId: user.userId, confirmation: 'DELETE_MY_ACCOUNT' })
  }
}

test.each(['find-imported', 'import-users'])(
  'an account that is withdrawn just before an import runs the statement %s is not created again',
  async (name) => {
    const line = given()
    const withdraw = await givenWithdrawalOf(line)
    expect(await importWith(line, name, () => withdraw())).toMatchObject(REFUSED)
  },
)

test('an account whose withdrawal commits while the insert of an import waits for it is not created again', async () => {
  const line = given()
  const withdraw = await givenWithdrawalOf(line)
  let withdrawal: Promise<void> | undefined
  const begin = () =>
    new Promise<void>((hasStarted) => {
      const commitLate: Transact = (work) =>
        ctx.transact(async (...of) => {
          const data = await work(...of)
          hasStarted()
          await untilWaiting(ctx)
          return data
        })
      // The line of the ledger, which follows, is committed at once.
      const transactions = [commitLate]
      withdrawal = withdraw((work) => (transactions.pop() ?? ctx.transact)(work))
    })
  expect(await importWith(line, 'import-users', begin)).toMatchObject(REFUSED)
  await withdrawal
})

test('an import finds an account that a service created again on purpose', async () => {
  const line = given()
  const [gone, made] = [await givenUser(ctx), await givenUser(ctx)]
  const nameAs = (id: string) => ctx.db.user.update({ where: { id }, data: { externalId: line.external_id } })
  await nameAs(gone.userId)
  await withdrawAs(ctx, gone)
  await nameAs(made.userId)
  expect(await importFile(await toFile([line]))).toEqual([
    expect.objectContaining({ result: 'unchanged', user_id: made.userId }),
  ])
})

test('a file is read line by line, with any line ends, and no line is read beyond its maximum', async () => {
  const long = 'x'.repeat(70_000)
  const content = Buffer.concat([
    Buffer.from('\uFEFFone\r\n\n  \ntwo\n'),
    Buffer.from([0xff, 0x0a]),
    Buffer.from(`${long}\n${'y'.repeat(65_536)}\nlast`),
  ])
  const file = await open(await givenFile(content))
  const lines = await allOf(linesOf(file))
  expect(lines.map(({ line, text, problem }) => [line, problem ?? text.slice(0, 4)])).toEqual([
    [1, 'one'],
    [4, 'two'],
    [5, 'The line is not UTF-8.'],
    [6, 'The line has more than 65536 bytes.'],
    [7, 'yyyy'],
    [8, 'last'],
  ])
  expect(lines.at(-1)?.bytes).toBe(content.length)
})

test('an input that cannot be imported at all is refused in a sentence', async () => {
  const refusal = (...args: string[]) => run('user', ...args).catch(sentenceOf)
  expect(await refusal('import')).toBe('--file is missing.')
  expect(await refusal('import', '--file', 'nowhere.ndjson')).toBe('--file names no file that can be read.')
  expect(await refusal('import', '--file', tmpdir())).toBe('--file names no file that can be read.')
  await expect(execute(ctx, ['user', 'import', '--file', 'x'], null)).rejects.toThrow('does not work in a batch')
})

test('a repeated text is found among a hundred thousand others, with the first line that had it', () => {
  const seen = new SeenTexts()
  for (let line = 1; line <= 100_000; line++) expect(seen.firstLineOf(`text ${line}`, line)).toBe(line)
  for (let line = 1; line <= 100_000; line += 997) expect(seen.firstLineOf(`text ${line}`, 200_000)).toBe(line)
})
