import { createHmac, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { createServer, request } from 'node:https'
import { join } from 'node:path'
import { chromium } from '@playwright/test'
import { expect, type TestContext, test } from 'vitest'
import { findBrowser } from '@/scripts/browser'
import { type Certificate, createCertificate } from '@/testing/certificate'
import { startWithdrawal } from '@/testing/completed-withdrawal'
import type { Instance } from '@/testing/instance'
import { listening } from '@/testing/listening'
import { MailServer } from '@/testing/mail-server'
import { changeEmail, givenPlainPerson, mailedCode, type Person, verifyEmail } from '@/testing/person'
import { FAULTS_DIR } from '@/testing/run-directory'
import { answered, until } from '@/testing/until'
import { givenWorld, isMarked, KEYS, type World } from '@/testing/world'
import { TlsProxy } from './tls-proxy'

const secret = () => randomBytes(16).toString('hex')
const ENGINE_KEYS = { eventKey: secret(), signingKey: `signkey-prod-${secret()}${secret()}` }

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

interface Asking {
  method?: string
  headers?: Record<string, string>
  body?: string
}

interface Production {
  world: World
  instance: Instance
  proxy: TlsProxy
  mail: MailServer
  /** The events that the service has sent to its engine, as text. */
  events: string[]
  certificate: Certificate
  /** Calls by https, as a browser does, and checks the certificate of the server. */
  ask(path: string, asking?: Asking): Promise<Answer>
}

/** An installation as `operations.md` has it: https in front, a mail server with sign-in and TLS, an engine, a bucket. */
async function givenProduction(
  context: TestContext,
  tls: 'at once' | 'STARTTLS' = 'at once',
  settings: Record<string, string> = {},
): Promise<Production> {
  mkdirSync(FAULTS_DIR, { recursive: true })
  const certificate = createCertificate(FAULTS_DIR)
  const proxy = await TlsProxy.start(certificate)
  const events: string[] = []
  const engine = await givenServer(context, certificate, (_method, path, body) => {
    if (path !== `/e/${ENGINE_KEYS.eventKey}`) return 404
    events.push(body.toString())
    return Buffer.from(JSON.stringify({ ids: ['evt'], status: 200 }))
  })
  const mail = await MailServer.start({ tls, certificate, user: 'accounts', password: secret() })
  // Registered first so that it runs last, when nothing calls the server any more.
  context.onTestFinished(async () => {
    proxy.stop()
    await mail.goAway()
  })
  const world = await givenWorld(context, {
    APP_ENV: 'production',
    APP_URL: proxy.url,
    SMTP_URL: mail.url,
    MAIL_FROM: 'Accounts <no-reply@accounts.test>',
    SUPPORT_EMAIL: 'help@accounts.test',
    TRUSTED_PROXY_HOPS: '1',
    // Connected applications of these tests are on this machine.
    ALLOW_PRIVATE_ENDPOINTS: '1',
    // Node trusts the certificate of the tests beside the public ones.
    NODE_EXTRA_CA_CERTS: certificate.file,
    INNGEST_EVENT_KEY: ENGINE_KEYS.eventKey,
    INNGEST_SIGNING_KEY: ENGINE_KEYS.signingKey,
    INNGEST_BASE_URL: engine,
    ...(await givenBucket(context, certificate)),
    ...settings,
  })
  const instance = await world.start()
  proxy.target = instance.url
  return { world, instance, proxy, mail, events, certificate, ask: asker(proxy.url, certificate) }
}

const asker =
  (url: string, { cert }: Certificate): Production['ask'] =>
  (path, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
      const outgoing = request(
        url + path,
        { method, headers: { ...headers, ...length }, ca: cert },
        async (incoming) => {
          let text = ''
          for await (const chunk of incoming) text += chunk
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text })
        },
      )
      outgoing.on('error', reject)
      outgoing.end(body)
    })

/** An https server of the test's own; its origin. */
async function givenServer(
  context: TestContext,
  { key, cert }: Certificate,
  handle: (method: string, path: string, body: Buffer, headers: Answer['headers']) => number | Buffer,
): Promise<string> {
  const server = createServer({ key, cert }, async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const answer = handle(incoming.method ?? '', incoming.url ?? '', Buffer.concat(chunks), incoming.headers)
    if (typeof answer === 'number') outgoing.writeHead(answer).end()
    else outgoing.writeHead(200).end(answer)
  })
  const port = await listening(server)
  context.onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://localhost:${port}`
}

/** A store of objects for the archives, which production does not keep in a directory of its own. */
async function givenBucket(context: TestContext, certificate: Certificate): Promise<Record<string, string>> {
  const objects = new Map<string, Buffer>()
  const endpoint = await givenServer(context, certificate, (method, path, body) => {
    const [place = '', query] = path.split('?')
    if (query) {
      const params = new URLSearchParams(query)
      const [prefix, after] = ['prefix', 'start-after'].map((name) => `${place}/${params.get(name) ?? ''}`) as [
        string,
        string,
      ]
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
      const listed = keys.map((key) => `<Key>${key.slice(place.length + 1)}</Key>`).join('')
      return Buffer.from(`<ListBucketResult>${listed}</ListBucketResult>`)
    }
    if (method === 'PUT') objects.set(path, body)
    else if (!objects.has(path)) return 404
    if (method === 'GET') return objects.get(path) as Buffer
    else if (method === 'DELETE') objects.delete(path)
    return method === 'DELETE' ? 204 : 200
  })
  return {
    ARCHIVE_S3_ENDPOINT: endpoint,
    ARCHIVE_S3_BUCKET: 'archives',
    ARCHIVE_S3_ACCESS_KEY_ID: 'archives',
    ARCHIVE_S3_SECRET_ACCESS_KEY: secret(),
  }
}

const cookiesOf = ({ headers }: Answer): string[] => [headers['set-cookie'] ?? []].flat()
const pairsOf = (cookies: string[]) => cookies.map((cookie) => cookie.split(';')[0]).join('; ')

/** Through the callback of the sign-in page, with the form that it sends. */
async function signInByHttps(ask: Production['ask'], { email, password }: Person) {
  const csrf = await ask('/api/auth/csrf')
  const { csrfToken } = JSON.parse(csrf.text) as { csrfToken: string }
  const signedIn = await ask('/api/auth/callback/credentials', {
    method: 'POST',
    headers: {
      Cookie: pairsOf(cookiesOf(csrf)),
      'Content-Type': 'application/x-www-form-urlencoded',
      // Only what the proxy itself has seen counts.
      'X-Forwarded-For': '198.51.100.7',
    },
    body: new URLSearchParams({ csrfToken, email, password, json: 'true' }).toString(),
  })
  return { csrf, signedIn }
}

test('a sign-in over https sets __Host- cookies only, and its session opens pages and API', async (context) => {
  const { world, instance, proxy, ask } = await givenProduction(context)
  const person = await givenPlainPerson(world)
  const { csrf, signedIn } = await signInByHttps(ask, person)
  expect([signedIn.status, JSON.parse(signedIn.text).url]).toEqual([200, proxy.url])
  const cookies = [...cookiesOf(csrf), ...cookiesOf(signedIn)]
  expect(cookies.map((cookie) => cookie.split('=')[0])).toEqual(
    expect.arrayContaining(['__Host-next-auth.csrf-token', '__Host-next-auth.session-token']),
  )
  for (const cookie of cookies) {
    expect(cookie).toMatch(/^__Host-(?:next-auth\.[\w-]+|device)=/)
    for (const attribute of ['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']) {
      expect(cookie.split('; ')).toContain(attribute)
    }
    expect(cookie).not.toMatch(/domain=/i)
  }

  const session = await ask('/api/auth/session', { headers: { Cookie: pairsOf(cookiesOf(signedIn)) } })
  const { accessToken, user } = JSON.parse(session.text)
  expect(user.id).toBe(person.id)
  const status = await ask(`/api/v1/users/${person.id}/email/status`, {
    headers: { Authorization: `Bearer ${accessToken}`, 'X-Required-Scope': 'email:manage' },
  })
  expect(JSON.parse(status.text).data.current_email).toBe(person.email)
  const page = await ask('/settings/email', { headers: { Cookie: pairsOf(cookiesOf(signedIn)) } })
  expect(page.status).toBe(200)
  for (const { headers } of [page, status]) expect(headers['strict-transport-security']).toMatch(/^max-age=\d{8}/)

  // The cookie without its prefix, which another site of the domain could set, opens nothing.
  const renamed = pairsOf(cookiesOf(signedIn)).replaceAll('__Host-', '')
  expect((await ask('/api/auth/session', { headers: { Cookie: renamed } })).text).toBe('{}')
  const sessions = await world.query('SELECT ip FROM sessions WHERE user_id = $1', [person.id])
  expect(sessions).toEqual([{ ip: '127.0.0.1' }])
  expect(instance.output).not.toContain(person.email)
})

test('a person signs in, changes the address and verifies it in a browser over https', async (context) => {
  const { world, proxy, mail } = await givenProduction(context)
  const person = await givenPlainPerson(world)
  const executablePath = await findBrowser()
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const browser = await chromium.launch({ args, ...(executablePath && { executablePath }) })
  context.onTestFinished(() => browser.close())
  const page = await browser.newPage({ ignoreHTTPSErrors: true })
  page.setDefaultTimeout(60_000)
  const faults: string[] = []
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('request', (sent) => {
    if (!sent.url().startsWith(`${proxy.url}/`) && !sent.url().startsWith('data:')) faults.push(sent.url())
  })

  await page.goto(`${proxy.url}/sign-in`)
  await page.getByLabel('Email').fill(person.email)
  await page.getByLabel('Password').fill(person.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Email address' }).waitFor()
  const cookies = await page.context().cookies()
  expect(cookies.map(({ name, secure, httpOnly }) => [name.startsWith('__Host-'), secure, httpOnly])).toEqual(
    cookies.map(() => [true, true, true]),
  )
  expect(cookies.map(({ name }) => name)).toContain('__Host-next-auth.session-token')

  await page.getByRole('button', { name: 'Change address' }).click()
  await page.getByLabel('New email').fill(person.newEmail)
  await page.getByLabel('Current password').fill(person.password)
  await page.getByRole('button', { name: 'Send verification' }).click()
  await page.getByRole('heading', { name: 'Pending change' }).waitFor()
  const link = new RegExp(`${proxy.url}/verify-email#[^\\s"<>]+`).exec(mail.to(person.newEmail)[0]?.text ?? '')?.[0]
  await page.goto(link?.replaceAll('&amp;', '&') ?? 'no link')
  await page.getByRole('button', { name: 'Verify my new address' }).click()
  await until('the address is changed', async () => {
    const rows = await world.query('SELECT FROM users WHERE id = $1 AND email = $2', [person.id, person.newEmail])
    return rows.length === 1
  })
  expect(faults).toEqual([])
})

test.for(['at once', 'STARTTLS'] as const)(
  'messages are sent encrypted (TLS %s) after a sign-in, and no log holds their content',
  async (tls, context) => {
    const { world, instance, mail } = await givenProduction(context, tls)
    const person = await givenPlainPerson(world)
    const change = await answered(() => changeEmail(instance, person))
    expect(change.status, JSON.stringify(change.body)).toBe(200)
    const proof = mailedCode({ mail }, person)
    expect((await verifyEmail(instance, person, proof)).status).toBe(200)
    const noticesTo = (address: string) => mail.to(address).filter(({ subject }) => /changed/i.test(subject)).length
    await until('both addresses are told', () => noticesTo(person.email) === 1 && noticesTo(person.newEmail) === 1)
    for (const { user, encrypted } of mail.mails) expect([user, encrypted]).toEqual(['accounts', true])
    expect((await instance.readiness()).status).toBe(200)
    const password = new URL(mail.url).password
    for (const text of [proof.code, person.email, person.newEmail, password, ...Object.values(KEYS)]) {
      expect(instance.output).not.toContain(text)
    }
  },
)

test('a mail server with an untrusted certificate receives neither the password nor a message', async (context) => {
  const { world, instance, mail } = await givenProduction(context, 'at once', {
    NODE_EXTRA_CA_CERTS: '',
    // The bucket of the tests is untrusted as well, and a start waits for its ledger.
    LEDGER_DIR: join(FAULTS_DIR, `ledger-${secret()}`),
    LEDGER_DIR_SHARED: '1',
  })
  const person = await givenPlainPerson(world)
  const { status, body } = await changeEmail(instance, person)
  expect([status, body.error.code]).toEqual([503, 'EMAIL_009'])
  expect([mail.signIns, mail.mails]).toEqual([0, []])
})

/** The `x-inngest-signature` of a body, whose members stand in the order of the alphabet as RFC 8785 asks for. */
function signatureOf(body: string, key: string, at = new Date()): string {
  const seconds = Math.round(at.getTime() / 1000)
  const signature = createHmac('sha256', key.replace(/^signkey-\w+-/, '')).update(`${body}${seconds}`)
  return `t=${seconds}&s=${signature.digest('hex')}`
}

test('an engine gets the id of a withdrawal alone, and unsigned, altered and old calls are refused', async (context) => {
  const { world, instance, events, certificate } = await givenProduction(context)
  const received: { path: string; body: string; headers: Answer['headers'] }[] = []
  const shop = await givenServer(context, certificate, (_method, path, body, headers) => {
    received.push({ path, body: body.toString(), headers })
    return 204
  })
  const { app_id = '' } = await world.operator.run('app', 'register', '--name', 'shop', '--endpoint', `${shop}/told`)
  const person = await givenPlainPerson(world, app_id)
  await world.operator.run('archive', 'write', '--user', person.id)

  const event = { data: { withdrawal_id: 'wd_of_nobody' }, name: 'account/withdrawal.started' }
  const right = JSON.stringify({
    ctx: { attempt: 0, run_id: 'run', stack: { current: 0, stack: [] } },
    event,
    events: [event],
    steps: {},
    version: 2,
  })
  const call = (headers: Record<string, string>, body = right) =>
    fetch(`${instance.url}/api/inngest?fnId=user-account-service-process-withdrawal&stepId=step`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'x-inngest-req-version': '2', ...headers },
      body,
    })
  const { signingKey } = ENGINE_KEYS
  const signed = (signature: string) => ({ 'x-inngest-signature': signature })
  const tenMinutesAgo = new Date(Date.now() - 600_000)
  expect((await call({})).status).toBe(401)
  expect((await call(signed('t=1&s=00'))).status).toBe(401)
  expect((await call(signed(signatureOf(right, `signkey-prod-${secret()}${secret()}`)))).status).toBe(401)
  expect((await call(signed(signatureOf(right, signingKey)), right.replace('nobody', 'ada'))).status).toBe(401)
  expect((await call(signed(signatureOf(right, signingKey, tenMinutesAgo)))).status).toBe(401)
  expect((await call(signed(signatureOf(right, signingKey)))).status).toBeLessThan(300)

  const { withdrawalId: id } = await startWithdrawal(instance, person)
  // The API answers 401 after the purge, which comes seven seconds after the start.
  await until('it is completed', () => isMarked(world, id, 'completed_at'))
  expect(events.flatMap((text) => JSON.parse(text)).map(({ data }) => data)).toEqual([{ withdrawal_id: id }])
  expect(received.map(({ path }) => path)).toEqual(['/told'])
  expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ type: 'account.withdrawn', data: { withdrawal_id: id } })
  expect(received[0]?.headers['webhook-signature']).toMatch(/^v1,/)
  expect(events.join()).not.toContain(person.email)
  for (const key of Object.values(ENGINE_KEYS)) expect(instance.output).not.toContain(key)
})

test('every line of the log is JSON without personal data, also what Next, next-auth and Node say', async (context) => {
  const { world, instance, ask } = await givenProduction(context, 'at once', {
    NODE_OPTIONS: `--import=${join(process.cwd(), 'faults/preload/noise.ts')}`,
    SIGN_IN_METHODS: 'password,oidc',
    AUTH_OIDC_ISSUER: 'https://127.0.0.1:9',
    AUTH_OIDC_CLIENT_ID: 'accounts',
    AUTH_OIDC_CLIENT_SECRET: secret(),
  })
  const person = await givenPlainPerson(world)
  const { csrf } = await signInByHttps(ask, person)
  await ask('/api/auth/signin/oidc', {
    method: 'POST',
    headers: { Cookie: pairsOf(cookiesOf(csrf)), 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ csrfToken: JSON.parse(csrf.text).csrfToken, json: 'true' }).toString(),
  })
  instance.signal('SIGUSR2')
  const lines = () =>
    instance.output
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { event: string; text?: string; kind?: string; code?: string })
  const said = [
    { event: 'ready' },
    { event: 'sign_in_error', code: 'SIGNIN_OAUTH_ERROR' },
    { event: 'node_warning', kind: 'DeprecationWarning', code: 'DEP9999', text: 'an old call of …' },
    { event: 'console', level: 'error', kind: 'Error', at: expect.stringContaining('noise.ts') },
    { event: 'console', level: 'warn', text: '! a warning' },
    // Next prints this line for a rejected promise that nobody awaits.
    { event: 'console', kind: 'Error', text: expect.stringContaining('⨯') },
  ]
  await until('all is said', () => lines().filter(({ event }) => event === 'console').length >= 4)
  for (const line of said) expect(lines()).toContainEqual(expect.objectContaining(line))
  expect(instance.output).not.toContain('@')
  expect((await ask('/api/health/live')).status).toBe(200)
})

test('production has no mailbox, no demo account and no applications without https', async (context) => {
  const { world, instance, ask } = await givenProduction(context)
  const image = '/_next/image?url=%2Fapple-icon.png&w=640&q=75'
  for (const path of ['/dev/mailbox', '/dev/mailbox?id=x', image]) expect((await ask(path)).status).toBe(404)
  expect(await world.query('SELECT email FROM users')).toEqual([])
  expect(instance.output).not.toMatch(/demo|mailbox/i)
  const refused = world.operator.run('app', 'register', '--name', 'shop', '--endpoint', 'http://127.0.0.1:9/told')
  await expect(refused).rejects.toThrow(/https/)

  const person = await givenPlainPerson(world)
  expect((await changeEmail(instance, person)).status).toBe(200)
  // Neither messages nor secrets are kept beside the program.
  expect(readdirSync(world.dataDir).filter((name) => /mail|secret|pg/.test(name))).toEqual([])
  const unsigned = await ask('/api/inngest', { method: 'PUT', body: '' })
  expect(unsigned.status).toBeGreaterThanOrEqual(400)
  expect(unsigned.status).toBeLessThan(500)
})
