import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, type TestContext, test } from 'vitest'
import { freePort, listening } from '@/testing/listening'
import { until, withStatus } from '@/testing/until'
import { givenWorld, type World } from '@/testing/world'

/** Begins a start, or an operator's command if one is given, and does not wait for it. */
function begin(
  { databaseUrl, dataDir }: Pick<World, 'databaseUrl' | 'dataDir'>,
  context: TestContext,
  settings: Record<string, string>,
  ...command: string[]
) {
  const program = command.length > 0 ? 'dist/account.mjs' : 'dist/server.mjs'
  const child = spawn(process.execPath, [program, ...command], {
    env: { ...process.env, NODE_ENV: 'production', DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ...settings },
  })
  context.onTestFinished(() => void child.kill('SIGKILL'))
  const start = { child, output: '', exit: new Promise((resolve) => child.once('close', resolve)) }
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      start.output += chunk
    })
  }
  return start
}

async function givenStart(context: TestContext) {
  const port = String(await freePort())
  const start = begin(await givenWorld(context), context, { PORT: port })
  const url = `http://127.0.0.1:${port}`
  const apiStatus = () =>
    fetch(`${url}/api/v1/users/usr_x/email/status`).then(
      (response) => response.status,
      () => 0,
    )
  await until('the API answers', async () => (await apiStatus()) === 401 || start.child.exitCode !== null)
  expect(start.child.exitCode, start.output).toBeNull()
  return { ...start, url }
}

test('pages and readiness wait until Next has loaded, after the API answers', async (context) => {
  const { url } = await givenStart(context)
  expect((await fetch(`${url}/sign-in`)).status).toBe(200)
  await until('the service is ready', async () => withStatus(200, await fetch(`${url}/api/health/ready`)))
})

test('B124 nothing but words stands on the screen before the service is ready on one’s own machine', async (context) => {
  const port = String(await freePort())
  const start = begin(await givenWorld(context), context, { PORT: port, PRODUCT_NAM: 'Shop' })
  await until('the service is ready', async () => start.output.includes('Ready on'))
  const [before = ''] = start.output.split('Ready on')
  // What a busy machine is late with is told, too.
  const lines = before.split('\n').filter((line) => line.trim() && !/^\{"level":"(warn|error)"/.test(line))
  expect(lines).toEqual(['PRODUCT_NAM is no setting. Did you mean PRODUCT_NAME?'])
})

test('SIGTERM while a page waits for Next ends the process with exit code 0', async (context) => {
  const { url, child, exit } = await givenStart(context)
  // The request may arrive before or after the signal.
  const page = fetch(`${url}/sign-in`).catch(() => null)
  const startedAt = performance.now()
  child.kill('SIGTERM')
  const code = await exit
  context.skip(code === 1 && performance.now() - startedAt > 14_000, 'this machine needs too long to load Next')
  expect(code).toBe(0)
  expect([200, undefined]).toContain((await page)?.status)
})

test.for([
  ['the start', []],
  ['a command', ['key', 'list']],
] as const)(
  'a DATABASE_URL that leads to no database ends %s with a sentence that names the setting and no password',
  async ([, command], context) => {
    const world = await givenWorld(context)
    const DATABASE_URL = 'postgresql://accounts:secret-one@127.0.0.1:1/accounts'
    const away = begin(world, context, { DATABASE_URL }, ...command)
    expect(await away.exit).toBe(1)
    expect(away.output).toMatch(/^DATABASE_URL: no connection to 127\.0\.0\.1:1\/accounts: connect ECONNREFUSED .*\n$/)
    const other = Object.assign(new URL(world.databaseUrl), { pathname: '/no_such_database' }).href
    const missing = begin(world, context, { DATABASE_URL: other }, ...command)
    expect(await missing.exit).toBe(1)
    expect(missing.output).toMatch(
      /^DATABASE_URL: no connection to \S+\/no_such_database: .*does not exist\. Start .*\n$/,
    )
    expect(away.output + missing.output).not.toContain('secret-one')
  },
)

test('app check ends with exit code 1 where there is something to mend', async (context) => {
  const check = begin(await givenWorld(context), context, {}, 'app', 'check', 'http://127.0.0.1:1/', '--secret', 'x')
  expect(await check.exit).toBe(1)
  expect(JSON.parse(check.output)).toMatchObject({ passed: 0, failed: 1 })
})

test('words that only the command itself finds wrong are refused with where help is, what is not there without', async (context) => {
  const start = ['withdrawal', 'start', '--user', 'usr_unknown']
  const world = await givenWorld(context)
  const wrong = begin(world, context, {}, ...start, '--reason', 'other')
  expect(await wrong.exit).toBe(2)
  expect(wrong.output).toBe(
    '--reason other needs --feedback.\nnode dist/account.mjs withdrawal start --help explains its options.\n',
  )
  const unknown = begin(world, context, {}, ...start)
  expect(await unknown.exit).toBe(1)
  expect(unknown.output).toBe('No account has this address or ID.\n')
})

test('with --json a refusal is one object, with the same exit code', async (context) => {
  const world = await givenWorld(context)
  const wrong = begin(world, context, {}, 'user', 'show', '--json')
  expect(await wrong.exit).toBe(2)
  expect(JSON.parse(wrong.output)).toEqual({
    code: 'REQUEST_001',
    message: expect.stringMatching(/^Give exactly one of an account/),
  })
  const unknown = begin(world, context, {}, 'withdrawal', 'show', 'wd_4Qm9ZsX1cT7uYb2LhKpV0w', '--json')
  expect(await unknown.exit).toBe(1)
  expect(JSON.parse(unknown.output)).toEqual({
    code: 'WITHDRAWAL_004',
    message: expect.stringContaining('There is no withdrawal'),
  })
})

test('a command whose answer cannot be written says so, and ends with exit code 1', async (context) => {
  const { databaseUrl, dataDir } = await givenWorld(context)
  const env = { ...process.env, DATABASE_URL: databaseUrl, DATA_DIR: dataDir }
  const written = promisify(execFile)(
    'sh',
    ['-c', 'exec "$0" dist/account.mjs key list > /dev/full', process.execPath],
    { env },
  )
  const stderr = 'Standard output cannot be written: ENOSPC: no space left on device, write.\n'
  await expect(written).rejects.toMatchObject({ code: 1, stderr })
})

test('a batch answers a line that is refused by an error with its code, and goes on', async (context) => {
  const batch = begin(await givenWorld(context), context, {}, 'batch')
  batch.child.stdin.end("user find --email o'brien@example.test\nwithdrawal show wd_4Qm9ZsX1cT7uYb2LhKpV0w\nkey list\n")
  expect(await batch.exit).toBe(1)
  const [refused, unknown, listed] = batch.output.split('\n')
  expect(refused).toBe('{"error":"A single quote is not closed.","code":"REQUEST_001"}')
  expect(JSON.parse(unknown ?? '')).toEqual({
    error: expect.stringContaining('There is no withdrawal'),
    code: 'WITHDRAWAL_004',
  })
  expect(listed).toContain('signing')
})

test('a command that is interrupted ends the embedded database that it started', async (context) => {
  const world = await givenWorld(context)
  const batch = begin(world, context, { DATABASE_URL: '' }, 'batch')
  batch.child.stdin.write('key list\n')
  await until('the command answers', () => batch.output.includes('signing'))
  const postmaster = path.join(world.dataDir, 'pg/postmaster.pid')
  expect(existsSync(postmaster)).toBe(true)
  batch.child.kill('SIGINT')
  expect(await batch.exit).toBe(130)
  expect(existsSync(postmaster)).toBe(false)
})

test('a command on a DATA_DIR without a database is refused and makes nothing there, and an account can be created', async (context) => {
  const world = await givenWorld(context)
  const place = { databaseUrl: '', dataDir: path.join(world.dataDir, 'none') }
  for (const command of ['user find --email a@example.test', 'app set app_1 --endpoint https://shop.example.com/']) {
    const refused = begin(place, context, {}, ...command.split(' '))
    expect(await refused.exit).toBe(1)
    expect(refused.output).toBe(
      `DATABASE_URL is not set, and there is no database in ${place.dataDir} (DATA_DIR). The start of the service makes one there. Where it runs with another DATA_DIR, set the same here.\n`,
    )
  }
  expect(existsSync(place.dataDir)).toBe(false)
  const person = '--email a@example.test --name Ada --password correct-horse'.split(' ')
  const created = begin(place, context, {}, 'user', 'create', ...person)
  expect(await created.exit).toBe(0)
  expect(created.output).toContain(`there is no database in ${place.dataDir} (DATA_DIR). It is made now.`)
  const found = begin(place, context, {}, 'user', 'find', '--email', 'a@example.test')
  expect(await found.exit).toBe(0)
  const [id = ''] = /usr_[\w-]+/.exec(created.output) ?? []
  expect(found.output).toContain(`"user_id":"${id}"`)
  // A mistyped name loses no secret that is shown once.
  const token = begin(
    place,
    context,
    {},
    ...`token create --user ${id} --scope email:manage --only acces_token`.split(' '),
  )
  expect(await token.exit).toBe(1)
  expect(token.output).toMatch(/"access_token":"uat_.*its answer has no member acces_token: all of it is printed\.\n$/s)
})

test('F65 the service says that its own PostgreSQL has died, starts it again, and serves on', async (context) => {
  const { dataDir } = await givenWorld(context)
  const port = String(await freePort())
  const service = begin({ databaseUrl: '', dataDir }, context, { PORT: port })
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/api/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  // The whole of it: a start whose database dies in the middle fails, and says so.
  await until('the service has started', () => service.output.includes('Ready on'))
  const postmaster = () => Number.parseInt(readFileSync(path.join(dataDir, 'pg/postmaster.pid'), 'utf8'), 10)
  const killed = postmaster()
  process.kill(killed, 'SIGKILL')
  await until('it says so', () => service.output.includes('PostgreSQL runs again.'))
  expect(service.output).toMatch(/"event":"own_postgres_died".*has died\. It is started again\./)
  expect(postmaster()).not.toBe(killed)
  await until('the service is ready again', isReady)
  service.child.kill('SIGTERM')
  expect(await service.exit).toBe(0)
  expect(existsSync(path.join(dataDir, 'pg/postmaster.pid'))).toBe(false)
})

test('a taken port and a wrong setting each end the start with a sentence', async (context) => {
  const world = await givenWorld(context)
  const holder = createServer()
  context.onTestFinished(() => void holder.close())
  const port = String(await listening(holder, await freePort()))
  const second = begin(world, context, { PORT: port })
  expect(await second.exit).toBe(1)
  expect(second.output).toBe(`Port ${port} is taken. Set PORT to another, or end what uses it.\n`)
  const wrong = begin(world, context, { PORT: 'many' })
  expect(await wrong.exit).toBe(1)
  expect(wrong.output).toBe('PORT must be a port number.\n')
})
