import { type ChildProcess, spawn } from 'node:child_process'
import { STEPS } from '@/contract/withdrawal'
import { freePort } from '@/testing/listening'
import { createToken } from '@/testing/operator'
import { codeIn, expect, test } from './fixtures'
import { IMPATIENT_URL, SERVICE_URL } from './service-urls'

const running: ChildProcess[] = []
test.afterEach(() => {
  for (const child of running.splice(0)) child.kill()
})

function run(example: string, args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [`examples/${example}`, ...args], { env: { ...process.env, ...env } })
  running.push(child)
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    output.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    output.err += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { child, output, ended }
}

test('the example program changes an address, and asks again after a wrong code', async ({ operator, user, inbox }) => {
  const env = { BASE: SERVICE_URL, USER_ID: user.id, TOKEN: await createToken(operator, user.id) }
  const newEmail = `new-${user.email}`
  const { child, output, ended } = run('change-email.ts', [newEmail, user.password], env)
  const code = codeIn(await inbox.latest(newEmail, 'Verify Your New Email Address'))
  child.stdin.write(`${code === '000000' ? '000001' : '000000'}\n`)
  await expect.poll(() => output.err).toContain('4 attempts left')
  child.stdin.write(`${code}\n`)
  expect(await ended).toBe(0)
  expect(output.out).toBe(`The address is now ${newEmail}.\n`)
})

test('the example program says why the service refused it', async ({ operator, user }) => {
  const env = { BASE: SERVICE_URL, USER_ID: user.id, TOKEN: await createToken(operator, user.id) }
  const { output, ended } = run('change-email.ts', [`new-${user.email}`, 'wrong'], env)
  expect(await ended).toBe(1)
  expect(output.err).toContain('EMAIL_007 Password verification failed')
})

test('the example program follows a withdrawal to its end, and the example application ends the access, then deletes the user, and refuses unsigned calls', async ({
  operator,
  user,
}) => {
  const PORT = String(await freePort())
  const endpoint = `http://127.0.0.1:${PORT}/account-events`
  const named = ['--name', 'Notes', '--endpoint', endpoint, '--event', 'account.withdrawal_started']
  const { app_id, signing_secret } = await operator.run('app', 'register', ...named)
  await operator.run('app', 'connect', '--user', user.id, '--app', app_id ?? '', '--subject', 'reader-7')
  const application = run('connected-application.ts', [], { PORT, SIGNING_SECRET: signing_secret ?? '' })
  await expect.poll(() => application.output.out).toContain('Listening')

  const body = JSON.stringify({ type: 'account.withdrawn', data: { subject: 'somebody else' } })
  const now = Math.floor(Date.now() / 1000)
  const headers = { 'webhook-id': 'msg_forged', 'webhook-timestamp': String(now), 'webhook-signature': 'v1,AAAA' }
  expect((await fetch(endpoint, { method: 'POST', headers, body })).status).toBe(401)
  const env = { BASE: IMPATIENT_URL, USER_ID: user.id, TOKEN: await createToken(operator, user.id) }
  const program = run('withdraw.ts', [], env)
  expect(await program.ended).toBe(0)
  const [last, ...steps] = program.output.out.trimEnd().split('\n').reverse()
  expect(last).toBe('The account is deleted.')
  // Steps that end between two reads are printed in the order of the answer.
  expect(steps.sort()).toEqual(STEPS.map((step) => `${step} completed`).sort())
  await expect
    .poll(() => application.output.out.split('\n').slice(1))
    .toEqual(['Ended the access of reader-7', 'Forgot reader-7', ''])
})

for (const [example, needs] of [
  ['change-email.ts', 'NEW_EMAIL PASSWORD'],
  ['withdraw.ts', 'USER_ID=usr_'],
  ['verify-receipt.ts', 'receipts.txt'],
] as const) {
  test(`the example program ${example} prints its usage when a value that it needs is missing`, async () => {
    const { output, ended } = run(example, [], {})
    expect(await ended).toBe(2)
    expect(output.err).toMatch(/^Usage: /)
    expect(output.err).toContain(`npx node examples/${example}`)
    expect(output.err).toContain(needs)
  })
}

test('the example program that verifies receipts does not call one wrong when it cannot read the keys', async () => {
  const BASE = `http://127.0.0.1:${await freePort()}`
  for (const JWKS of ['', 'README.md']) {
    const { output, ended } = run('verify-receipt.ts', ['package.json'], { BASE, JWKS })
    expect(await ended).toBe(3)
    expect(output.err).toContain('The keys could not be read')
    expect(output.out).toBe('')
  }
})
