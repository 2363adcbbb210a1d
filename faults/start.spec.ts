import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, type TestContext, test } from 'vitest'
import { until, withStatus } from '@/testing/until'
import { givenWorld, type World } from '@/testing/world'

/** A start that nobody has waited for. */
function begin({ databaseUrl, dataDir }: World, context: TestContext, settings: Record<string, string>) {
  const child = spawn(process.execPath, ['dist/server.mjs'], {
    env: { ...process.env, NODE_ENV: 'production', DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
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

/** A port that something holds, and how to leave it. */
async function heldPort() {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, resolve))
  const { port } = server.address() as AddressInfo
  return { port: String(port), leave: () => new Promise<unknown>((resolve) => server.close(resolve)) }
}

async function givenStart(context: TestContext) {
  const { port, leave } = await heldPort()
  await leave()
  const start = begin(await givenWorld(context), context, { PORT: port })
  const url = `http://127.0.0.1:${port}`
  const apiStatus = () =>
    fetch(`${url}/api/v1/users/usr_x/email/status`).then(
      (response) => response.status,
      () => 0,
    )
  await until('the API answers', async () => (await apiStatus()) === 401)
  return { ...start, url }
}

test('pages and readiness wait until Next has loaded, after the API answers', async (context) => {
  const { url } = await givenStart(context)
  expect((await fetch(`${url}/sign-in`)).status).toBe(200)
  await until('the service is ready', async () => withStatus(200, await fetch(`${url}/api/health/ready`)))
})

test('SIGTERM while a page waits for Next ends the process with exit code 0', async (context) => {
  const { url, child, exit } = await givenStart(context)
  // Whether the request is there before the signal is open.
  const page = fetch(`${url}/sign-in`).catch(() => null)
  child.kill('SIGTERM')
  expect(await exit).toBe(0)
  expect([200, undefined]).toContain((await page)?.status)
})

test('a DATABASE_URL that leads to no database ends the start with a sentence that names the setting and no password', async (context) => {
  const world = await givenWorld(context)
  const away = begin(world, context, { DATABASE_URL: 'postgresql://accounts:secret-one@127.0.0.1:1/accounts' })
  expect(await away.exit).toBe(1)
  expect(away.output).toMatch(/^DATABASE_URL: no connection to 127\.0\.0\.1:1\/accounts: connect ECONNREFUSED .*\n$/)
  const other = Object.assign(new URL(world.databaseUrl), { pathname: '/no_such_database' }).href
  const missing = begin(world, context, { DATABASE_URL: other })
  expect(await missing.exit).toBe(1)
  expect(missing.output).toMatch(
    /^DATABASE_URL: no connection to \S+\/no_such_database: .*does not exist\. Start .*\n$/,
  )
  expect(away.output + missing.output).not.toContain('secret-one')
})

test('a taken port and a wrong setting each end the start with a sentence', async (context) => {
  const world = await givenWorld(context)
  const { port, leave } = await heldPort()
  context.onTestFinished(() => void leave())
  const taken = begin(world, context, { PORT: port })
  expect(await taken.exit).toBe(1)
  expect(taken.output).toBe(`Port ${port} is taken. Set PORT to another, or end what uses it.\n`)
  const wrong = begin(world, context, { PORT: 'many' })
  expect(await wrong.exit).toBe(1)
  expect(wrong.output).toBe('PORT must be a port number.\n')
})
