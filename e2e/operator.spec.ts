import { expect, test } from './fixtures'

test('the command refuses every repeated option except --scope', async ({ operator, user }) => {
  const names = ['--name', 'one', '--name', 'two']
  await expect(operator.run('app', 'register', ...names, '--endpoint', 'https://app.test')).rejects.toThrow(
    '--name is given more than once.',
  )
  const verified = ['user', 'create', '--email', user.email, '--password', user.password, '--name', user.name]
  await expect(operator.run(...verified, '--verified', '--verified')).rejects.toThrow('--verified is given more than')
  const scopes = ['--scope', 'email:manage', '--scope', 'account:manage']
  expect(await operator.run('token', 'create', '--user', user.id, ...scopes)).toHaveProperty('access_token')
})

test('an endpoint that cannot be called is not registered', async ({ operator }) => {
  const refused: [string, RegExp][] = [
    ['http://user:pw@127.0.0.1/hook', /must hold no user name or password/],
    ['https://user@app.test/hook', /must hold no user name or password/],
    ['https://:pw@app.test/hook', /must hold no user name or password/],
    ['app.test/hook', /must be a URL that begins with https/],
    ['ftp://app.test/hook', /must be a URL that begins with https/],
  ]
  for (const [endpoint, sentence] of refused) {
    await expect(operator.run('app', 'register', '--name', 'Shop', '--endpoint', endpoint)).rejects.toThrow(sentence)
  }
  const accepted = await operator.run('app', 'register', '--name', 'Shop', '--endpoint', 'https://app.test/a@b?user=c')
  expect(accepted.app_id).toMatch(/^app_/)
})

test('an unknown event type and a short password are refused with a sentence', async ({ operator, user }) => {
  const app = ['app', 'register', '--name', 'Shop', '--endpoint', 'https://app.test/hook']
  await expect(operator.run(...app, '--event', 'account.renamed')).rejects.toThrow(
    '--event must be one or more of account.email_change_requested,',
  )
  const types = ['--event', 'account.withdrawn', '--event', 'account.withdrawal_started']
  expect(await operator.run(...app, ...types)).toHaveProperty('signing_secret')
  await expect(operator.run('user', 'set-password', '--user', user.id, '--password', '1234567')).rejects.toThrow(
    'The password must have 8 to 256 characters.',
  )
})

test('a name that is too long and an expiry without end are refused with a sentence', async ({ operator, user }) => {
  const token = ['token', 'create', '--user', user.id, '--scope', 'email:manage']
  await expect(operator.run(...token, '--name', 'x'.repeat(101))).rejects.toThrow('--name has at most 100 characters.')
  await expect(operator.run(...token, '--expires-in', 'P999999999D')).rejects.toThrow('--expires-in must be an ISO')
})
