import { randomBytes, randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Contract, isAdminContract, isLinkContract, isTaskContract, SERVICE_SCOPES } from '@/contract/define'
import { operations } from '@/contract/operations'
import { reportPlaceOf } from '@/domain/applications/task-token'
import type { SystemContext } from '@/domain/context'
import { createNotMeToken } from '@/domain/email/not-me-token'
import { LIMIT_ROWS } from '@/domain/limits/limits'
import { linkUrl } from '@/domain/mail/links'
import { createSessionToken } from '@/domain/sessions/authenticate'
import { createSecrets } from '@/server/adapters/secrets'
import type { Instance } from '@/testing/instance'
import { givenPeople } from '@/testing/people'
import type { Person } from '@/testing/person'
import { givenWorld, type World } from '@/testing/world'
import { HOSTILE_VALUES, hostileBodies, rightBodies } from '../checks/hostile-bodies'
import { envelopeProblem } from '../models/invariants'
import { type Hit, parse } from './gun'

/** A part of every `npm test`: fewer cases, the same ones every time, and no judgement of how busy the machine is. */
const IS_SHORT = Boolean(process.env.SHORT)
const SEED = Number(process.env.PROOF_SEED ?? (IS_SHORT ? 1 : randomInt(2 ** 31)))
const BODIES = Number(process.env.PROOF_BODIES ?? (IS_SHORT ? 500 : 10_000))
const AT_ONCE = 24
const SLOWEST_MS = IS_SHORT ? 15_000 : 2_000
/** Stands in everything that is sent, and may stand in no line that is logged. No request id has a tilde: a good one may. */
const CANARY = `c4n~${randomBytes(9).toString('hex')}`
const SECRETS = { AUTH_SECRET: 'auth-secret-of-the-fuzz-run', CODE_SECRET: 'code-secret-of-the-fuzz-run' }

// Limits are settings. The windows are short as well, so that no bucket grows with the run.
const [HIGH, SHORT] = ['1000000', 'PT1S']
const LIMITS = Object.fromEntries(
  Object.values(LIMIT_ROWS).flatMap(({ settings: [places, window] }) => [
    [places, HIGH],
    [window, SHORT],
  ]),
)

let world: World
let instance: Instance
let person: Person
let sessionToken: string
let serviceToken: string
/** An account that no withdrawal can take, for the bodies that happen to be right. */
const EXTERNAL_ID = 'fuzz customer'
const FUZZED_ID = `usr_${'F'.repeat(22)}`
const FUZZED_EMAIL = 'fuzzed@example.test'
/** Of that account: a change that its old address can undo, and a password that can be reset. */
const CHANGE_ID = `ecr_${'F'.repeat(22)}`
const RESET = {
  noticeId: `ntc_${'F'.repeat(22)}`,
  userId: FUZZED_ID,
  emailKey: FUZZED_EMAIL,
  credentialVersion: 0,
  endsAt: new Date(Date.now() + 86_400_000),
}
const cleanUps: (() => unknown)[] = []
const report: string[] = [`seed ${SEED}`]

beforeAll(async () => {
  const settings = { ...LIMITS, ...SECRETS, WITHDRAWAL_TIME_SCALE: '1' }
  world = await givenWorld({ onTestFinished: (end) => void cleanUps.push(end as () => unknown) }, settings)
  instance = await world.start()
  ;[person] = (await givenPeople(world, 1)) as [Person]
  // A body that happens to be right ends nothing.
  const pending = ['transaction', 'add', '--user', person.id, '--status', 'pending', '--description', 'book']
  await world.operator.run(...pending)
  await world.query(
    `INSERT INTO users (id, external_id, name, email, email_key, created_at) VALUES ($1, $2, 'Fuzz', $3, $3, now())`,
    [FUZZED_ID, EXTERNAL_ID, FUZZED_EMAIL],
  )
  await world.operator.run('transaction', 'add', '--user', FUZZED_ID, '--status', 'pending', '--description', 'book')
  const sessionId = `ses_${randomBytes(16).toString('base64url')}`
  await world.query(
    `INSERT INTO sessions VALUES ($1, $2, 'fuzz', '192.0.2.1', now(), now(), now() + interval '1 day')`,
    [sessionId, person.id],
  )
  sessionToken = createSessionToken(systemOfTokens(), sessionId).token
  await givenIds()
})

/** Something for each placeholder of a path, so that a right body is not refused for its path alone. */
async function givenIds() {
  const { query, operator } = world
  await query(
    `UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE id = $1), email_verified_at = now() WHERE id = $2`,
    [person.id, FUZZED_ID],
  )
  await query(
    `INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac, requested_at,
                                        request_ip, sent_at, expires_at, closed_at, closed_ip, account_version)
     VALUES ($1, $2, 'verified', 'email_code', 'before@example.test', $3, $3, '', now(), '', now(), now(), now(), '', 0)`,
    [CHANGE_ID, FUZZED_ID, FUZZED_EMAIL],
  )
  await query(
    `INSERT INTO notices (id, user_id, kind, created_at, sent_at, expires_at) VALUES ($1, $2, 'password_reset', now(), now(), $3)`,
    [RESET.noticeId, FUZZED_ID, RESET.endsAt],
  )
  const register = async (name: string) => {
    const app = ['app', 'register', '--name', name, '--poll', '--acknowledges', 'later']
    return String((await operator.run(...app)).app_id)
  }
  const [gone] = (await givenPeople(world, 1)) as [Person]
  await operator.run('app', 'connect', '--user', gone.id, '--app', await register('worker'), '--subject', 'one')
  await operator.run('withdrawal', 'start', '--user', gone.id)
  const [task] = await query<{ id: string }>('SELECT id FROM app_notifications')
  const appId = await register('fuzzed')
  Object.assign(ids, { appId, taskId: task?.id, changeRequestId: CHANGE_ID })
  const scopes = Object.keys(SERVICE_SCOPES).flatMap((scope) => ['--scope', scope])
  const made = await operator.run('service-token', 'create', '--name', 'fuzz', '--app', appId, ...scopes)
  serviceToken = String(made.service_token)

  // A body that happens to be right changes nothing, so that the next one meets the same rows.
  await query(`CREATE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'`)
  const stays = (table: string, which: string) =>
    query(`CREATE TRIGGER stays BEFORE UPDATE ON ${table} FOR EACH ROW WHEN (${which}) EXECUTE FUNCTION stay()`)
  const people = `IN ('${person.id}', '${FUZZED_ID}')`
  await stays('users', `OLD.id ${people}`)
  for (const table of ['access_tokens', 'sessions']) await stays(table, `OLD.user_id ${people}`)
  await stays('email_change_requests', `OLD.id = '${CHANGE_ID}'`)
  await stays('app_notifications', 'true')
}

afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
  process.stdout.write(`\n${report.join('\n')}\n`)
})

/** What a placeholder stands for; one that is not here names nothing that there is. */
const ids: Record<string, string> = { externalId: encodeURIComponent(EXTERNAL_ID) }
const UNKNOWN_ID = `wd_${'A'.repeat(22)}`
const pathOf = ({ path }: Contract) =>
  `/api/v1${path}`.replace('{userId}', person.id).replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? UNKNOWN_ID)
const tokenFor = (contract: Contract) => {
  if (isTaskContract(contract)) return reportPlaceOf(systemOfTokens(), ids.taskId ?? '').report_token
  if (isAdminContract(contract)) return serviceToken
  if (isLinkContract(contract)) {
    const isOfChange = contract.path.includes('{changeRequestId}')
    return isOfChange
      ? createNotMeToken(systemOfTokens(), CHANGE_ID)
      : linkUrl(systemOfTokens(), 'password_reset', RESET).split('#token=')[1]
  }
  return contract.scope === 'tokens:manage' ? sessionToken : person.token
}

/** Who is not asked for a scope may name any. */
const scopeOf = ({ scope }: Contract) => scope ?? 'account:manage'
/** As much of the service as its tokens are made with. */
const systemOfTokens = () =>
  ({
    secrets: createSecrets({ auth: [SECRETS.AUTH_SECRET], code: [SECRETS.CODE_SECRET] }),
    clock: { now: () => new Date() },
    appUrl: '',
  }) as SystemContext

/** What a field may never hold, and what looks like what an engine, a parser or a database reads in its own way. */
const hostileText = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      ' ',
      '\0',
      `${CANARY}\0`,
      '\ud800',
      '\udfff\ud800',
      '\u202e',
      '\ufeff',
      '\u2028',
      '__proto__',
      'null',
      '%00',
      '%0d%0aBcc: x',
    ],
    ...[
      "' OR 1=1 --",
      '<%= 7*7 %>',
      '{{7*7}}',
      '../../etc/passwd',
      '<script>',
      'a@b@c',
      'x@t.test\r\nBcc: v@t.test',
      'ａ@example.test',
    ],
    ...[
      `"${CANARY}"@example.test`,
      `${CANARY}@xn--.test`,
      `${CANARY}@1.2.3.4`,
      '🙂'.repeat(500),
      '🙂'.repeat(501),
      'e\u0301'.repeat(300),
    ],
    ...[
      '000000',
      '０００００0',
      'ecr_AAAAAAAAAAAAAAAAAAAAAA',
      `ecr_${'A'.repeat(5000)}`,
      'DELETE_MY_ACCOUNT ',
      'delete_my_account',
    ],
  ),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.emailAddress(),
  fc.integer({ min: 1, max: 15_000 }).map((length) => 'x'.repeat(length)),
)
const hostileValue = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(null, true, false, 0, -0, 1e308, -1, 1.5, 2 ** 53, [], {}, [[]], [null]),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(
      { contains: '@' },
      { not: '' },
      { $ne: null },
      [CANARY],
      { toString: CANARY },
      { length: 6 },
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom(...HOSTILE_VALUES) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
)
const extraKey = fc.constantFrom(
  '__proto__',
  'constructor',
  'toString',
  'valueOf',
  'toJSON',
  'then',
  'length',
  'size',
  'userId',
  'status',
  'attempts',
  'email_verified',
  '',
  '\0',
  'a'.repeat(500),
)

/** Bodies around a right one: as text, then broken as text, then as bytes. `members` are all that a body may have. */
function bodiesAround(valid: Record<string, unknown>, members: string[]): fc.Arbitrary<Buffer> {
  const keys = [...new Set([...Object.keys(valid), ...members])]
  const key = fc.constantFrom(...keys)
  const swapped = fc
    .dictionary(key, hostileValue, { minKeys: 1, maxKeys: keys.length })
    .map((changes) => JSON.stringify({ ...valid, ...changes }))
  const dropped = fc
    .subarray(keys)
    .map((kept) => JSON.stringify(Object.fromEntries(kept.map((name) => [name, valid[name]]))))
  const added = fc
    .tuple(extraKey, hostileValue)
    .map(([name, value]) => `${JSON.stringify(valid).slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`)
  const doubled = fc
    .tuple(key, hostileValue)
    .map(([name, value]) => `{${JSON.stringify(name)}:${JSON.stringify(value)},${JSON.stringify(valid).slice(1)}`)
  const deep = fc
    .tuple(fc.integer({ min: 1, max: 8_000 }), fc.constantFrom('[', '{"a":', '[{"":'), fc.boolean())
    .map(([depth, open, inside]) =>
      (inside ? `{"${keys[0]}":${open.repeat(depth)}` : open.repeat(depth)).slice(0, 16_300),
    )
  const right = fc.constant(JSON.stringify(valid))
  const other = fc.oneof(
    fc.json(),
    fc.constantFrom(
      '',
      ' ',
      'null',
      '[]',
      '""',
      '{',
      '}',
      '{}{}',
      "{'a':1}",
      '{"a":1,}',
      '{"a":1e999}',
      '{"a":NaN}',
      '//',
      '\ufeff{}',
    ),
    fc.integer({ min: 16_300, max: 40_000 }).map((size) => `{"${keys[0]}":"${'x'.repeat(size)}"}`),
  )
  const text = fc.oneof(
    { weight: 6, arbitrary: swapped },
    ...[dropped, added, doubled, deep, other].map((arbitrary) => ({ weight: 2, arbitrary })),
  )
  const cut = fc.tuple(fc.oneof(swapped, right), fc.nat()).map(([full, at]) => full.slice(0, at % full.length))
  const spoiled = fc
    .tuple(fc.oneof(swapped, right), fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 4 }))
    .map(([full, at, bytes]) => {
      const all = Buffer.from(full)
      return Buffer.concat([all.subarray(0, at % all.length), bytes, all.subarray(at % all.length)])
    })
  return fc.oneof(
    { weight: 7, arbitrary: text.map((full) => Buffer.from(full)) },
    { weight: 2, arbitrary: cut.map((full) => Buffer.from(full)) },
    { weight: 2, arbitrary: spoiled },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  )
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

function send(method: string, path: string, headers: Record<string, string>, body?: Buffer): Promise<Hit> {
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${instance.url}/`,
      { method, path, headers, agent: headers.Connection ? false : agent },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const isJson = incoming.headers['content-type']?.startsWith('application/json')
          const answered = { status: incoming.statusCode ?? 0, headers: incoming.headers as Record<string, string> }
          resolve({ ...answered, body: isJson ? JSON.parse(text) : text, ms: performance.now() - startedAt })
        })
      },
    )
    // What is refused before it is read whole may be answered on a connection that closes.
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** As a client that sends whatever it likes. Null where the connection is closed without an answer. */
function sendRaw(bytes: Buffer): Promise<Hit | null> {
  const { hostname, port } = new URL(instance.url)
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes))
    const end = () => {
      const received = Buffer.concat(chunks)
      resolve(received.length > 0 ? { ...parse(received), ms: performance.now() - startedAt } : null)
    }
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('close', end)
    socket.on('error', () => {})
    socket.setTimeout(20_000, () => {
      reject(new Error(`no answer to ${bytes.toString('latin1').slice(0, 400)}`))
      socket.destroy()
    })
  })
}

/** Several at a time; every problem with what was sent. */
async function each<T>(all: T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all]
  const worker = async () => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) await work(one)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

interface Tally {
  sent: number
  slowestMs: number
  codes: Record<string, number>
}

const newTally = (): Tally => ({ sent: 0, slowestMs: 0, codes: {} })

function count(tally: Tally, { status, body, ms }: Hit) {
  const code = status < 300 ? 'OK' : (body?.error?.code ?? String(status))
  tally.sent++
  tally.slowestMs = Math.max(tally.slowestMs, Math.round(ms))
  tally.codes[code] = (tally.codes[code] ?? 0) + 1
}

/** An answer that is a file has no envelope. */
const FILES: string[] = operations.flatMap(({ file }) => file ?? [])

/** A 5xx, a wrong envelope or a slow answer. */
function problemOf(hit: Hit): string | null {
  if (hit.status >= 500) return `${hit.status} ${JSON.stringify(hit.body)}`
  if (hit.ms > SLOWEST_MS) return `${Math.round(hit.ms)} ms`
  const type = hit.headers['content-type'] ?? ''
  if (hit.status === 200 && FILES.includes(type)) return null
  if (!/^application\/json; charset=utf-8$/.test(type)) return `type ${type}`
  return envelopeProblem(hit)
}

const note = (what: string, tally: Tally, startedAt: number) =>
  report.push(
    `${what}: ${tally.sent} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s, slowest ${tally.slowestMs} ms, ${JSON.stringify(tally.codes)}`,
  )

const withBody = operations.filter(({ body }) => body)

test.each(withBody.map((contract) => [contract.name, contract] as const))(
  'L10 no malformed body for %s causes a 5xx, a slow answer or an answer without the envelope',
  async (name, contract) => {
    const valid = { ...contract.example.body }
    if ('current_password' in valid) valid.current_password = person.password
    const { body: schema } = contract
    if (!schema) throw new Error(`${name} takes no body`)
    const rights = rightBodies(schema, valid)
    const around = fc.oneof(...rights.map((right) => bodiesAround(right, Object.keys(schema.shape))))
    const bodies = [
      ...hostileBodies(schema, valid).map((hostile) => Buffer.from(JSON.stringify(hostile))),
      ...fc.sample(around, { numRuns: BODIES, seed: SEED }),
    ]
    const headers = {
      Authorization: `Bearer ${tokenFor(contract)}`,
      'X-Required-Scope': scopeOf(contract),
      'Content-Type': 'application/json',
    }
    const tally = newTally()
    const startedAt = performance.now()
    const problems: string[] = []
    await each(bodies, async (body) => {
      const hit = await send(contract.method, pathOf(contract), headers, body)
      count(tally, hit)
      const problem = problemOf(hit)
      if (problem) problems.push(`${problem} for ${body.toString('latin1').slice(0, 300)}`)
    })
    note(name, tally, startedAt)
    expect(problems.slice(0, 5)).toEqual([])
    expect(instance.isRunning).toBe(true)
  },
)

const withQuery = operations.filter(({ query }) => query)

test.each(withQuery.map((contract) => [contract.name, contract] as const))(
  'L10 no malformed query for %s causes a 5xx, a slow answer or an answer without the envelope',
  async (name, contract) => {
    const { query, example } = contract
    const members = Object.keys(query?.shape ?? {})
    const right = { ...Object.fromEntries(members.map((member) => [member, 'true'])), ...example.query }
    const encoded = hostileText.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 8_000))
    const broken = fc.constantFrom('%', '%zz', '%c0%af', '%ff', '%00', '+', '[]', '&', '=', '?')
    const pair = fc
      .tuple(fc.constantFrom(...members, `${members[0]}[]`, 'extra', ''), fc.oneof(encoded, broken))
      .map(([member, value]) => `${member}=${value}`)
    const around = fc
      .tuple(fc.subarray(Object.entries(right)), fc.array(pair, { minLength: 1, maxLength: 4 }))
      .map(([kept, pairs]) => [new URLSearchParams(kept).toString(), ...pairs].filter(Boolean).join('&'))
    const headers = { Authorization: `Bearer ${tokenFor(contract)}`, 'X-Required-Scope': scopeOf(contract) }
    const tally = newTally()
    const startedAt = performance.now()
    const problems: string[] = []
    await each(fc.sample(around, { numRuns: Math.ceil(BODIES / 5), seed: SEED }), async (search) => {
      const hit = await send(contract.method, `${pathOf(contract)}?${search}`, headers)
      count(tally, hit)
      const isParsers = (hit.status === 400 || hit.status === 431) && hit.body === ''
      const problem = isParsers ? null : problemOf(hit)
      if (problem) problems.push(`${problem} for ${search.slice(0, 300)}`)
    })
    note(`query of ${name}`, tally, startedAt)
    expect(problems.slice(0, 5)).toEqual([])
    expect(instance.isRunning).toBe(true)
  },
)

/** What may stand in the value of a header. */
const visible = Array.from({ length: 224 }, (_, index) => String.fromCharCode(32 + index)).filter(
  (char) => char !== '\x7f',
)
const legal = fc.oneof(
  fc.constantFrom(
    '',
    ',',
    ';',
    '=',
    '"',
    '%',
    '\t',
    CANARY,
    'null',
    '*',
    '*/*',
    '\xff\xfe',
    'a'.repeat(4_000),
    `${CANARY},${CANARY}`,
  ),
  fc.string({ unit: fc.constantFrom(...visible), maxLength: 60 }),
)
const illegal = fc.constantFrom(
  ...[
    'x\r\nX-Injected: yes',
    'x\nX-Injected: yes',
    'x\rX-Injected: yes',
    'x\0y',
    'x\r\n\r\nGET / HTTP/1.1\r\nHost: x',
    '\x7f',
    'a'.repeat(20_000),
  ],
)
const junk = fc.oneof({ weight: 24, arbitrary: legal }, { weight: 1, arbitrary: illegal })

/** Lines of a request head, none of them as it should be. */
function hostileHeads(contract: Contract): fc.Arbitrary<string[]> {
  const bearer = `Bearer ${tokenFor(contract)}`
  const scope = scopeOf(contract)
  const line = (name: string, values: fc.Arbitrary<string>) => values.map((value) => `${name}: ${value}`)
  const authorization = fc.oneof(
    junk.map((value) => `Bearer ${value}`),
    junk,
    fc.constantFrom(
      bearer.toLowerCase(),
      `${bearer} `,
      `Bearer  ${bearer}`,
      `Basic ${CANARY}`,
      `${bearer},${bearer}`,
      `Bearer ${'.'.repeat(300)}`,
    ),
    fc.constantFrom(`Bearer ${CANARY}.${CANARY}.${CANARY}`, 'Bearer eyJhbGciOiJub25lIn0.e30.', bearer),
  )
  const lines = fc.oneof(
    line('Authorization', authorization),
    line('X-Required-Scope', fc.oneof(junk, fc.constantFrom(scope, `${scope},${scope}`, scope.toUpperCase()))),
    line(
      'Content-Type',
      fc.oneof(
        junk,
        fc.constantFrom(
          'application/json',
          'text/plain',
          'application/json; charset=utf-16',
          'multipart/form-data; boundary=x',
          'application/json;',
        ),
      ),
    ),
    line('Idempotency-Key', fc.oneof(junk, fc.constantFrom('key', '\u00e9', 'k'.repeat(255), 'k'.repeat(256)))),
    line('X-Request-Id', fc.oneof(junk, fc.constantFrom('good.id-1', 'i'.repeat(64), 'i'.repeat(65)))),
    line('X-Forwarded-For', junk),
    line('X-Account-Client-Ip', junk),
    line('Accept-Encoding', junk),
    line('Cookie', junk),
    line('Expect', fc.constantFrom('100-continue', 'something')),
    fc.constantFrom(
      ...['chunked', 'gzip', 'identity', 'chunked, chunked'].map((value) => `Transfer-Encoding: ${value}`),
      ...['-1', '0', '99999999999999999999', '0x2', '2, 2'].map((value) => `Content-Length: ${value}`),
    ),
    legal.map((value) => `X-${encodeURIComponent(value.toWellFormed()).replaceAll(/[()]/g, '')}: ${value}`),
  )
  return fc
    .array(lines, { minLength: 1, maxLength: 6 })
    .map((several) => [`Authorization: ${bearer}`, `X-Required-Scope: ${scope}`, ...several])
}

test('no hostile header causes a 5xx, a slow answer or a header of its own in the answer', async () => {
  const tally = newTally()
  const startedAt = performance.now()
  const problems: string[] = []
  const cases = operations.flatMap((contract) =>
    fc
      .sample(fc.tuple(hostileHeads(contract), fc.boolean()), { numRuns: Math.ceil(BODIES / 25), seed: SEED })
      .map(([lines, isPlain]) => {
        // Half of them replace the right lines instead of coming beside them.
        const kept = isPlain ? [...lines] : lines.slice(2)
        const isFramed = kept.some((line) => /^(?:Content-Length|Transfer-Encoding):/.test(line))
        const body = contract.body ? '{}' : ''
        if (body && !isFramed) kept.push('Content-Length: 2')
        const head = `${contract.method} ${pathOf(contract)} HTTP/1.1\r\nHost: localhost\r\nConnection: close`
        return Buffer.from(`${head}\r\n${kept.join('\r\n')}\r\n\r\n${body}`, 'latin1')
      }),
  )
  await each(cases, async (bytes) => {
    const hit = await sendRaw(Buffer.concat([bytes]))
    if (!hit) return
    count(tally, hit)
    // The HTTP parser's own refusals have no body.
    const isParsers = (hit.status === 400 || hit.status === 431 || hit.status === 417) && hit.body === ''
    const problem = isParsers ? null : hit.ms > SLOWEST_MS && hit.status === 408 ? null : problemOf(hit)
    const injected =
      'x-injected' in hit.headers ||
      (hit.headers['x-request-id'] && !/^[\w.-]{1,64}$/.test(hit.headers['x-request-id']))
    if (problem || injected)
      problems.push(`${problem ?? 'injected'} for ${JSON.stringify(bytes.toString('latin1').slice(0, 500))}`)
  })
  note('headers', tally, startedAt)
  expect(problems.slice(0, 5)).toEqual([])
  expect(instance.isRunning).toBe(true)
})

test('no path in any encoding causes a 5xx, a redirect or an answer without the envelope', async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '',
      '%2e%2e',
      '%2f',
      '%5c',
      '\\',
      '%00',
      '%',
      '%zz',
      '%c0%af',
      '%ff',
      '%E0%A4%A',
      ';x=1',
      '~',
      '*',
      '\xff',
      '%25%30%30',
    ),
    fc.constantFrom(
      'users',
      'email',
      'change',
      'withdraw',
      'status',
      '__proto__',
      'constructor',
      '[userId]',
      '{userId}',
      '_next',
      'a'.repeat(3_000),
    ),
    fc.string({ unit: fc.integer({ min: 33, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 20 }),
    fc.constantFrom(
      CANARY,
      encodeURIComponent(`${CANARY}\0`),
      '?',
      '?a=b',
      '#x',
      '?nxtPuserId=usr_x',
      '?__nextLocale=x',
    ),
  )
  const below = fc.array(piece, { maxLength: 6 }).map((pieces) => `/api/v1/${pieces.join('/')}`)
  const around = fc.tuple(fc.constantFrom(...operations), fc.nat(), piece).map(([contract, at, extra]) => {
    const path = pathOf(contract)
    return `${path.slice(0, 8 + (at % (path.length - 8)))}${extra}${path.slice(8 + (at % (path.length - 8)))}`
  })
  const method = fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'OPTIONS', 'PATCH', 'PROPFIND')
  const cases = fc.sample(fc.tuple(method, fc.oneof(below, around)), { numRuns: Math.ceil(BODIES / 2), seed: SEED })
  const tally = newTally()
  const startedAt = performance.now()
  const problems: string[] = []
  await each(cases, async ([verb, path]) => {
    const [token, scope] = path.includes('/admin/') ? [serviceToken, 'users:read'] : [person.token, 'email:manage']
    const head = `${verb} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nX-Required-Scope: ${scope}\r\nContent-Type: application/json\r\n`
    const hit = await sendRaw(Buffer.from(`${head}Content-Length: 2\r\nConnection: close\r\n\r\n{}`, 'latin1'))
    if (!hit) return
    count(tally, hit)
    const isParsers = hit.status === 400 && hit.body === '' && !('content-type' in hit.headers)
    const isHead = verb === 'HEAD' && hit.body === '' && hit.status < 500
    const problem = isParsers || isHead ? null : problemOf(hit)
    if (problem || 'location' in hit.headers)
      problems.push(`${problem ?? 'redirect'} for ${verb} ${JSON.stringify(path.slice(0, 300))}`)
  })
  note('paths', tally, startedAt)
  expect(problems.slice(0, 5)).toEqual([])
  expect(instance.isRunning).toBe(true)
})

test('no malformed server action, RSC or data request to a page causes a 5xx or delays the API', async () => {
  const pages = [
    '/',
    '/sign-in',
    '/settings',
    '/settings/email',
    '/settings/withdraw',
    '/settings/sessions',
    '/settings/password',
    '/verify-email',
    '/forgot-password',
    '/reset-password',
    '/withdrawal/wd_x',
    '/docs/api',
    '/dev/mailbox',
    '/admin',
  ]
  const page = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...pages) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.constantFrom(...pages),
          fc.constantFrom('.rsc', '.json', '.segments/_tree.segment.rsc', '.txt', '%2e', '/..%2f', '//x'),
        )
        .map(([path, end]) => path + end),
    },
    { weight: 1, arbitrary: fc.constantFrom(...pages).map((path) => `/_next/data/build${path}.json`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '/_next/image?url=http://169.254.169.254/&w=64&q=75',
        '/_next/static/../../server/app',
        '/_next/data/',
        '/_next/webpack-hmr',
        '/__nextjs_original-stack-frames',
      ),
    },
  )
  const query = fc.constantFrom(
    '',
    '?_rsc=1',
    `?nxtPwithdrawalId=${CANARY}`,
    '?nxtPuserId=x&nxtIuserId=y',
    '?__nextDataReq=1',
    '?__nextppronly=1',
    '?a[]=1&a[b]=2',
    '?%',
  )
  const text = fc.string({
    unit: fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code)),
    maxLength: 60,
  })
  const headers = fc.record(
    {
      'Next-Action': fc.oneof(
        fc.constantFrom('0'.repeat(40), 'f'.repeat(42), 'x', '__proto__', 'constructor', CANARY),
        text,
      ),
      RSC: fc.constantFrom('1', '0', 'x'),
      'Next-Router-State-Tree': fc.oneof(
        fc.constantFrom(
          '%5B%22%22%5D',
          '[]',
          '%',
          encodeURIComponent('["",{"children":["__proto__",{}]},null,null,true]'),
          'x'.repeat(5_000),
        ),
        text,
      ),
      'Next-Router-Prefetch': fc.constantFrom('1', '2', 'x'),
      'Next-Router-Segment-Prefetch': fc.oneof(
        fc.constantFrom('/_tree', '/_full', '/settings/__PAGE__', '/../..'),
        text,
      ),
      'Next-Url': fc.constantFrom('/settings/email', '//evil.test', 'http://169.254.169.254/', '%00'),
      'x-middleware-subrequest': fc.constantFrom(
        'middleware',
        'src/middleware',
        'middleware:middleware:middleware:middleware:middleware',
        'proxy',
        'pages/_middleware',
      ),
      'x-middleware-rewrite': fc.constantFrom('/admin', 'http://169.254.169.254/'),
      'x-nextjs-data': fc.constantFrom('1'),
      'x-matched-path': fc.constantFrom('/admin', '/settings/email'),
      'x-now-route-matches': fc.constantFrom('1=usr_x&nxtPuserId=usr_x'),
      'next-resume': fc.constantFrom('1'),
      'Content-Type': fc.constantFrom(
        'text/plain;charset=UTF-8',
        'multipart/form-data; boundary=x',
        'multipart/form-data',
        'application/x-www-form-urlencoded',
        'text/x-component',
        'application/json',
      ),
      Origin: fc.constantFrom('https://evil.test', 'null', 'http://localhost'),
      Cookie: fc.constantFrom(
        `next-auth.session-token=${CANARY}`,
        'next-auth.session-token=eyJhbGciOiJub25lIn0..',
        '__prerender_bypass=x; __next_preview_data=y',
      ),
    },
    { requiredKeys: [] },
  )
  const flight = fc.constantFrom(
    ...[
      '[]',
      '["$1"]',
      '["$@1"]',
      '["$F1"]',
      '["$Q0"]',
      '["$K1"]',
      '["$B1"]',
      '{"then":"$1:__proto__:then"}',
      '["$1:constructor:constructor"]',
      '"$$"',
      '["$i","$n9999999999999999999999"]',
    ],
    ...['[["$D2020"],["$undefined"],["$Infinity"]]', `["${CANARY}"]`, '[1', '\0', '$'.repeat(2_000), '['.repeat(5_000)],
  )
  const part = fc
    .tuple(
      fc.constantFrom(
        '0',
        '1',
        '_0',
        '1_0',
        '$ACTION_ID_x',
        '$ACTION_REF_1',
        '$ACTION_1:0',
        '$ACTION_KEY',
        '__proto__',
      ),
      flight,
    )
    .map(([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  const body = fc.oneof(
    fc
      .tuple(fc.array(part, { maxLength: 6 }), fc.boolean())
      .map(([parts, isEnded]) => parts.join('') + (isEnded ? '--x--\r\n' : '')),
    flight,
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.constant('x'.repeat(20_000)),
  )
  const method = fc.constantFrom('POST', 'POST', 'POST', 'GET', 'GET', 'GET', 'HEAD', 'PUT', 'OPTIONS')
  const numRuns = Math.max(1_000, BODIES / 5)
  const cases = fc.sample(fc.tuple(method, page, query, headers, body), { numRuns, seed: SEED })

  const probes: number[] = []
  let isOver = false
  const probing = (async () => {
    while (!isOver) {
      const hit = await send('GET', `/api/v1/users/${person.id}/email/status`, {
        Authorization: `Bearer ${person.token}`,
        'X-Required-Scope': 'email:manage',
      })
      expect(hit.status).toBe(200)
      probes.push(hit.ms)
    }
  })()
  const tally = newTally()
  const startedAt = performance.now()
  const problems: string[] = []
  await each(cases, async ([verb, path, search, given, content]) => {
    const sent = verb === 'GET' || verb === 'HEAD' ? undefined : Buffer.from(content)
    const hit = await send(
      verb,
      path + search,
      { ...given, Connection: 'close' } as Record<string, string>,
      sent,
    ).catch((error) => ({ status: 599, headers: {}, body: String(error), ms: 0 }))
    count(tally, { ...hit, body: null })
    const leaks = JSON.stringify(hit.body).includes(person.email)
    if (hit.status >= 500 || hit.ms > SLOWEST_MS || leaks) {
      problems.push(
        `${hit.status} ${Math.round(hit.ms)} ms${leaks ? ' leaks' : ''} for ${verb} ${path}${search} ${JSON.stringify(given)} ${content.slice(0, 200)}`,
      )
    }
  })
  isOver = true
  await probing
  probes.sort((a, b) => a - b)
  note('pages', tally, startedAt)
  report.push(
    `  ${probes.length} status reads meanwhile, 99 % within ${Math.round(probes[Math.floor(probes.length * 0.99)] ?? 0)} ms`,
  )
  expect(problems.slice(0, 5)).toEqual([])
  expect(probes.at(-1)).toBeLessThan(SLOWEST_MS)
  expect(instance.isRunning).toBe(true)
})

test('no log holds anything that was sent', async () => {
  const logs = [instance.output, ...world.postgresLogs.map((file) => readFileSync(file, 'latin1'))].join('\n')
  for (const secret of [CANARY, person.token, person.email, person.password, serviceToken, EXTERNAL_ID]) {
    const at = logs.indexOf(secret)
    expect(at < 0 ? '' : logs.slice(Math.max(0, at - 200), at + 100)).toBe('')
  }
  expect(logs).not.toContain('unexpected_error')
  report.push(`${logs.length} bytes of logs searched`)
})
