import { randomBytes, randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Contract,
  isAccountLinkContract,
  isAdminContract,
  isLinkContract,
  isTaskContract,
  SERVICE_SCOPES,
} from '@/contract/define'
import { openApiDocument } from '@/contract/openapi'
import { operations } from '@/contract/operations'
import { reportPlaceOf } from '@/domain/applications/task-token'
import type { SystemContext } from '@/domain/context'
import { createNotMeToken } from '@/domain/email/not-me-token'
import { LIMIT_ROWS } from '@/domain/limits/limits'
import { LINKS, type LinkKind, linkUrl } from '@/domain/mail/links'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { createSecrets } from '@/server/adapters/secrets'
import type { Instance } from '@/testing/instance'
import { givenPeople } from '@/testing/people'
import type { Person } from '@/testing/person'
import { givenWorld, type World } from '@/testing/world'
import { HOSTILE_VALUES, hostileBodies, rightBodies } from '../checks/hostile-bodies'
import { envelopeProblem } from '../models/invariants'

/** In every `npm test` it has fewer cases, the same ones every time, and a wide bound on the time of an answer. */
const IS_SHORT = !process.env.LONG
const SEED = Number(process.env.PROOF_SEED ?? (IS_SHORT ? 1 : randomInt(2 ** 31)))
const BODIES = Number(process.env.PROOF_BODIES ?? (IS_SHORT ? 500 : 10_000))
const AT_ONCE = 24
const MAX_TRIES = 5
const MAX_ANSWER_MS = IS_SHORT ? 15_000 : 2_000
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

interface Answer {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  body: any
  ms: number
}

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
const LINK = {
  userId: FUZZED_ID,
  emailKey: FUZZED_EMAIL,
  sentToKey: FUZZED_EMAIL,
  credentialVersion: 0,
  endsAt: new Date(Date.now() + 86_400_000),
}
const noticeOf = (kind: LinkKind) => `ntc_${(kind === 'password_reset' ? 'F' : 'E').repeat(21)}A`
const cleanUps: (() => unknown)[] = []
const report: string[] = [`seed ${SEED}`]

beforeAll(async () => {
  const settings = { ...LIMITS, ...SECRETS, WITHDRAWAL_TIME_SCALE: '1' }
  world = await givenWorld({ onTestFinished: (end) => void cleanUps.push(end as () => unknown) }, settings)
  instance = await world.start()
  ;[person] = (await givenPeople(world, 1)) as [Person]
  // A body that happens to be right ends nothing.
  const pending = ['transaction', 'add', '--user', person.id, '--status', 'pending', '--title', 'book']
  await world.operator.run(...pending)
  await world.query(
    `INSERT INTO users (id, external_id, name, email, email_key, created_at) VALUES ($1, $2, 'Fuzz', $3, $3, now())`,
    [FUZZED_ID, EXTERNAL_ID, FUZZED_EMAIL],
  )
  await world.operator.run('transaction', 'add', '--user', FUZZED_ID, '--status', 'pending', '--title', 'book')
  const sessionId = `ses_${randomBytes(16).toString('base64url')}`
  await world.query(
    `INSERT INTO sessions VALUES ($1, $2, 'fuzz', '192.0.2.1', now(), now(), now() + interval '1 day')`,
    [sessionId, person.id],
  )
  sessionToken = createSessionToken(systemOfTokens(), sessionId).token
  await givenIds()
})

/** Ids that exist for each placeholder of a path, so that a right body is not refused for its path alone. */
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
  for (const kind of Object.keys(LINKS) as LinkKind[]) {
    await query(
      `INSERT INTO notices (id, user_id, kind, created_at, sent_at, expires_at) VALUES ($1, $2, $3, now(), now(), $4)`,
      [noticeOf(kind), FUZZED_ID, kind, LINK.endsAt],
    )
  }
  const register = async (name: string) => {
    const app = ['app', 'register', '--name', name, '--poll', '--acknowledges', 'later']
    return String((await operator.run(...app)).app_id)
  }
  const [gone] = (await givenPeople(world, 1)) as [Person]
  await operator.run('app', 'connect', '--user', gone.id, '--app', await register('worker'), '--subject', 'one')
  await operator.run('withdrawal', 'start', '--user', gone.id)
  const [task] = await query<{ id: string }>('SELECT id FROM deletion_tasks')
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
  await stays('deletion_tasks', 'true')
}

afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
  process.stdout.write(`\n${report.join('\n')}\n`)
})

/** The value of each placeholder. Any other placeholder gets an id that does not exist. */
const ids: Record<string, string> = { externalId: encodeURIComponent(EXTERNAL_ID) }
const UNKNOWN_ID = `wd_${'A'.repeat(22)}`
const pathOf = ({ path }: Contract) =>
  `/api/v1${path}`.replace('{userId}', person.id).replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? UNKNOWN_ID)
const tokenFor = (contract: Contract) => {
  if (isTaskContract(contract)) return reportPlaceOf(systemOfTokens(), ids.taskId ?? '').report_token
  if (isAdminContract(contract)) return serviceToken
  if (isLinkContract(contract)) {
    if (contract.path.includes('{changeRequestId}')) return createNotMeToken(systemOfTokens(), CHANGE_ID)
    const kind = isAccountLinkContract(contract) ? 'withdrawal_requested' : 'password_reset'
    return linkUrl(systemOfTokens(), kind, { ...LINK, noticeId: noticeOf(kind) }).split('#token=')[1]
  }
  return contract.scope === 'tokens:manage' ? sessionToken : person.token
}

/** The parts of a context that make tokens. */
const systemOfTokens = () =>
  ({
    secrets: createSecrets({ auth: [SECRETS.AUTH_SECRET], code: [SECRETS.CODE_SECRET] }),
    clock: { now: () => new Date() },
    appUrl: '',
  }) as SystemContext
/** Texts that no field may hold, and texts that an engine, a parser or a database could interpret. */
const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\ud800',
    '\udfff\ud800',
    '\u202e',
    '\ufeff',
    '\u2028',
    'ａ@example.test',
    'e\u0301'.repeat(300),
  ),
  fc.constantFrom(`${CANARY}\0`, `"${CANARY}"@example.test`, `${CANARY}@xn--.test`, `${CANARY}@1.2.3.4`),
  fc.constantFrom(
    "' OR 1=1 --",
    '{{7*7}}',
    '../../etc/passwd',
    '<script>',
    'x@t.test\r\nBcc: v@t.test',
    '%0d%0aBcc: x',
  ),
  fc.constantFrom('000000', '０００００0', `ecr_${'A'.repeat(5000)}`, 'delete_my_account', '🙂'.repeat(501)),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.emailAddress(),
  fc.integer({ min: 1, max: 15_000 }).map((length) => 'x'.repeat(length)),
)
const hostileValue = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(null, true, 0, -0, 1e308, 1.5, 2 ** 53, [], {}, [CANARY], { $ne: null }),
  },
  { weight: 2, arbitrary: fc.constantFrom(...HOSTILE_VALUES) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
)
const extraKey = fc.constantFrom(
  '__proto__',
  'constructor',
  'toJSON',
  'then',
  'length',
  'userId',
  'status',
  '',
  '\0',
  'a'.repeat(500),
)

/** Bodies around a right one: as text, then broken as text, then as bytes. `members` are all that a body may have. */
function bodiesAround(valid: Record<string, unknown>, members: string[]): fc.Arbitrary<Buffer> {
  const keys = [...new Set([...Object.keys(valid), ...members])]
  const right = JSON.stringify(valid)
  const swapped = fc
    .dictionary(fc.constantFrom(...keys), hostileValue, { minKeys: 1, maxKeys: keys.length })
    .map((changes) => JSON.stringify({ ...valid, ...changes }))
  const dropped = fc
    .subarray(keys)
    .map((kept) => JSON.stringify(Object.fromEntries(kept.map((name) => [name, valid[name]]))))
  // Adds a member that is unknown, or repeats one.
  const added = fc
    .tuple(fc.oneof(extraKey, fc.constantFrom(...keys)), hostileValue)
    .map(([name, value]) => `{${JSON.stringify(name)}:${JSON.stringify(value)},${right.slice(1)}`)
  const deep = fc
    .tuple(
      fc.integer({ min: 1, max: 8_000 }),
      fc.constantFrom('[', '{"a":', '[{"":'),
      fc.constantFrom('', `{"${keys[0]}":`),
    )
    .map(([depth, open, inside]) => (inside + open.repeat(depth)).slice(0, 16_300))
  const other = fc.oneof(
    fc.json(),
    fc.constantFrom(
      '',
      ' ',
      'null',
      '[]',
      '""',
      '{',
      '{}{}',
      "{'a':1}",
      '{"a":1,}',
      '{"a":1e999}',
      '{"a":NaN}',
      '\ufeff{}',
    ),
    fc.integer({ min: 16_300, max: 40_000 }).map((size) => `{"${keys[0]}":"${'x'.repeat(size)}"}`),
  )
  const cut = fc.tuple(swapped, fc.nat()).map(([full, at]) => full.slice(0, at % full.length))
  const spoiled = fc
    .tuple(swapped, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 4 }))
    .map(([full, at, bytes]) => {
      const all = Buffer.from(full)
      return Buffer.concat([all.subarray(0, at % all.length), bytes, all.subarray(at % all.length)])
    })
  const texts = [swapped, dropped, added, deep, other, cut].map((text) => text.map((full) => Buffer.from(full)))
  return fc.oneof(
    ...texts,
    spoiled,
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  )
}

async function send(method: string, path: string, headers: Record<string, string>, body?: Buffer): Promise<Answer> {
  const startedAt = performance.now()
  const answer = await fetch(instance.url + path, { method, headers, body: body && new Uint8Array(body) })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: isJson ? JSON.parse(text) : text,
    ms: performance.now() - startedAt,
  }
}

/** Sends any bytes as a request. Null if the connection is closed without an answer. */
async function sendRaw(bytes: Buffer): Promise<Answer | null> {
  const { hostname, port } = new URL(instance.url)
  const startedAt = performance.now()
  const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes))
  const chunks: Buffer[] = []
  const closed = Promise.withResolvers<void>()
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('close', closed.resolve)
  socket.on('error', () => {})
  socket.setTimeout(20_000, () => {
    closed.reject(new Error(`no answer to ${bytes.toString('latin1').slice(0, 400)}`))
    socket.destroy()
  })
  await closed.promise
  const received = Buffer.concat(chunks).toString().replace('HTTP/1.1 100 Continue\r\n\r\n', '')
  if (!received) return null
  const [head = '', ...rest] = received.split('\r\n\r\n')
  const headers = Object.fromEntries(
    [...head.matchAll(/^([\w-]+): *(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name.toLowerCase(), value]),
  )
  // The length of a chunk may stand before the JSON, and another answer behind it.
  const isJson = headers['content-type']?.startsWith('application/json')
  const json = isJson && /\{.*\}/s.exec(rest[0] ?? '')?.[0]
  return {
    status: Number(head.split(' ')[1]),
    headers,
    // The parser's own refusals have no type and no content.
    body: json ? JSON.parse(json) : headers['content-type'] ? rest.join('') : '',
    ms: performance.now() - startedAt,
  }
}

/** Sends the requests several at a time and expects no problem. A failure shows the first five. */
async function expectNoProblem<T>(
  what: string,
  cases: T[],
  problemWith: (one: T, note: (answer: Answer) => void) => Promise<string | null>,
) {
  const codes: Record<string, number> = {}
  const problems: string[] = []
  const startedAt = performance.now()
  const left = [...cases]
  const note = ({ status, body }: Answer) => {
    const code = status < 300 ? 'OK' : (body?.error?.code ?? String(status))
    codes[code] = (codes[code] ?? 0) + 1
  }
  const worker = async () => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      let problem = await problemWith(one, note)
      // A busy machine refuses, or is slow, for a moment. What a request itself causes, it causes each time.
      for (let tries = 1; problem !== null && /^503 |^\d+ ms/.test(problem) && tries < MAX_TRIES; tries++) {
        await sleep(tries * 1_000)
        problem = await problemWith(one, note)
      }
      if (problem) problems.push(problem)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  report.push(`${what}: ${cases.length} in ${seconds} s, ${JSON.stringify(codes)}`)
  expect(problems.slice(0, 5)).toEqual([])
  expect(instance.isRunning).toBe(true)
}

/** An answer that is a file has no envelope. */
const FILES: string[] = operations.flatMap(({ file }) => file ?? [])

/** The statuses that the OpenAPI document describes, by operation. */
const { paths } = openApiDocument({ product: '', appUrl: '', supportEmail: '' })
const described = new Map(
  Object.values(paths as Record<string, Record<string, { operationId: string; responses: object }>>)
    .flatMap((path) => Object.values(path))
    .map(({ operationId, responses }) => [operationId, Object.keys(responses)]),
)

/** A 5xx, a wrong envelope or a slow answer. The HTTP parser's own refusals have no body. */
function problemOf(answer: Answer | null, operation?: string): string | null {
  if (!answer || (answer.body === '' && [400, 417, 431].includes(answer.status))) return null
  if (answer.status >= 500) return `${answer.status} ${JSON.stringify(answer.body)}`
  if (answer.ms > MAX_ANSWER_MS && answer.status !== 408) return `${Math.round(answer.ms)} ms`
  if (answer.headers.location) return `a redirect to ${answer.headers.location}`
  if (operation && !described.get(operation)?.includes(String(answer.status))) return `${answer.status}, not described`
  const type = answer.headers['content-type'] ?? ''
  if (answer.status === 200 && FILES.includes(type)) return null
  return type === 'application/json; charset=utf-8' ? envelopeProblem(answer) : `type ${type}`
}

const authorizationFor = (contract: Contract) => ({
  Authorization: `Bearer ${tokenFor(contract)}`,
  'X-Required-Scope': contract.scope ?? 'account:manage',
})
const withBody = operations.filter(({ body }) => body)

test.each(withBody.map((contract) => [contract.name, contract] as const))(
  'L10 no malformed body for %s causes a 5xx, a slow answer or an answer without the envelope',
  async (name, contract) => {
    const { body: schema } = contract
    if (!schema) throw new Error(`${name} takes no body`)
    const valid = { ...contract.example.body }
    if ('current_password' in valid) valid.current_password = person.password
    const rightOnes = rightBodies(schema, valid)
    const around = fc.oneof(...rightOnes.map((right) => bodiesAround(right, Object.keys(schema.shape))))
    const bodies = [
      ...hostileBodies(schema, IS_SHORT ? [valid] : rightOnes).map((hostile) => Buffer.from(JSON.stringify(hostile))),
      ...fc.sample(around, { numRuns: BODIES, seed: SEED }),
    ]
    const headers = { ...authorizationFor(contract), 'Content-Type': 'application/json' }
    await expectNoProblem(name, bodies, async (body, note) => {
      const answer = await send(contract.method, pathOf(contract), headers, body)
      note(answer)
      const problem = problemOf(answer, name)
      return problem && `${problem} for ${body.toString('latin1').slice(0, 300)}`
    })
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
    const cases = fc.sample(around, { numRuns: Math.ceil(BODIES / 5), seed: SEED })
    await expectNoProblem(`query of ${name}`, cases, async (search, note) => {
      const answer = await send(contract.method, `${pathOf(contract)}?${search}`, authorizationFor(contract))
      note(answer)
      const problem = problemOf(answer, name)
      return problem && `${problem} for ${search.slice(0, 300)}`
    })
  },
)

const visible = fc.integer({ min: 32, max: 255 }).map((char) => String.fromCharCode(char === 127 ? 32 : char))
const headerValue = fc.oneof(
  { weight: 24, arbitrary: fc.string({ unit: visible, maxLength: 60 }) },
  {
    weight: 12,
    arbitrary: fc.constantFrom(
      '',
      ',',
      '"',
      '%',
      '\xff\xfe',
      '*/*',
      CANARY,
      'a'.repeat(4_000),
      '99999999999999999999',
      'gzip',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('x\r\nX-Injected: yes', 'x\rX-Injected: yes', 'x\0y', '\x7f', 'a'.repeat(20_000)),
  },
)
const headerName = fc.constantFrom(
  ...'Authorization X-Required-Scope Content-Type Idempotency-Key X-Request-Id X-Forwarded-For Cookie'.split(' '),
  ...'X-Account-Client-Ip Accept-Encoding Expect Transfer-Encoding Content-Length'.split(' '),
)

test('no hostile header causes a 5xx, a slow answer or a header of its own in the answer', async () => {
  const lines = fc.array(fc.tuple(headerName, headerValue), { minLength: 1, maxLength: 6 })
  const heads = fc.tuple(fc.constantFrom(...operations), lines, fc.boolean()).map(([contract, hostile, isBeside]) => {
    const right = Object.entries({ ...authorizationFor(contract), 'Content-Length': contract.body ? 2 : 0 })
    const sent = [...(isBeside ? right : []), ...hostile].map(([name, value]) => `${name}: ${value}`)
    const first = `${contract.method} ${pathOf(contract)} HTTP/1.1\r\nHost: localhost\r\nConnection: close`
    return Buffer.from(`${first}\r\n${sent.join('\r\n')}\r\n\r\n${contract.body ? '{}' : ''}`, 'latin1')
  })
  await expectNoProblem('headers', fc.sample(heads, { numRuns: BODIES, seed: SEED }), async (bytes, note) => {
    const answer = await sendRaw(bytes)
    if (answer) note(answer)
    const isInjected =
      answer && ('x-injected' in answer.headers || !/^[\w.-]{0,64}$/.test(answer.headers['x-request-id'] ?? ''))
    const problem = isInjected ? 'a header of the caller' : problemOf(answer)
    return problem && `${problem} for ${JSON.stringify(bytes.toString('latin1').slice(0, 500))}`
  })
})

test('no path in any encoding causes a 5xx, a redirect or an answer without the envelope', async () => {
  const piece = fc.oneof(
    fc.constantFrom('', ...'.. . %2e%2e %2f %5c \\ %00 % %zz %c0%af %ff %E0%A4%A ;x=1 ~ * \xff %25%30%30'.split(' ')),
    fc.constantFrom(...'users email change status __proto__ constructor [userId] {userId} _next'.split(' ')),
    fc.constantFrom(CANARY, encodeURIComponent(`${CANARY}\0`), 'a'.repeat(3_000), '?a=b', '#x', '?nxtPuserId=usr_x'),
    fc.string({ unit: visible.filter((char) => char !== ' '), maxLength: 20 }),
  )
  const below = fc.array(piece, { maxLength: 6 }).map((pieces) => `/api/v1/${pieces.join('/')}`)
  const around = fc.tuple(fc.constantFrom(...operations), fc.nat(), piece).map(([contract, at, extra]) => {
    const path = pathOf(contract)
    const border = 8 + (at % (path.length - 8))
    return `${path.slice(0, border)}${extra}${path.slice(border)}`
  })
  const method = fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'OPTIONS', 'PATCH', 'PROPFIND')
  const cases = fc.sample(fc.tuple(method, fc.oneof(below, around)), { numRuns: Math.ceil(BODIES / 2), seed: SEED })
  await expectNoProblem('paths', cases, async ([verb, path], note) => {
    const [token, scope] = path.includes('/admin/') ? [serviceToken, 'users:read'] : [person.token, 'email:manage']
    const head = `${verb} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nX-Required-Scope: ${scope}`
    const framing = 'Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close'
    const answer = await sendRaw(Buffer.from(`${head}\r\n${framing}\r\n\r\n{}`, 'latin1'))
    if (answer) note(answer)
    const isHead = verb === 'HEAD' && answer?.body === '' && answer.status < 500
    const problem = isHead ? null : problemOf(answer)
    return problem && `${problem} for ${verb} ${JSON.stringify(path.slice(0, 300))}`
  })
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
