import { afterEach, expect, test, vi } from 'vitest'
import { ANOTHER_USER } from '@/contract/errors'
import { callsOf } from './embedded-client'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

/** What the console says of two calls that the service refuses. */
async function saidOf(baseUrl: string, userId: string, { details = ANOTHER_USER as string, code = 'AUTH_002' } = {}) {
  vi.stubGlobal('fetch', async () =>
    Response.json({ success: false, error: { code, message: 'm', details } }, { status: 403 }),
  )
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  const read = () => callsOf(baseUrl)(() => 'pgt_1', 'getEmailStatus', { userId })
  for (const call of [read, read]) await expect(call()).rejects.toMatchObject({ code })
  return logged.mock.calls.flat().join()
}

const SERVICE = 'https://accounts.example.test'

test.each([
  [SERVICE, '~customer-7', 'The user "~customer-7" is another person than the one of the page token.'],
  [SERVICE, 'usr_4BvsJQ', 'The user "usr_4BvsJQ" is another person than the one of the page token.'],
  [SERVICE, 'customer-7', 'The user "customer-7" has to be ~ and your own id of the person, such as ~customer-6.'],
  [SERVICE, '~', 'The user "~" has to be ~ and your own id of the person, such as ~customer-6.'],
])('the console says once what is wrong where %s refuses the user %s', async (service, user, said) => {
  expect(await saidOf(service, user)).toBe(said)
})

test('the console says for which call a good token is refused, which is no other person', async () => {
  const details = 'The token does not hold the scope account:manage.'
  expect(await saidOf(SERVICE, '~customer-8', { details })).toBe(
    `The service refused the token of getEmailStatus. ${details}`,
  )
})

test('the console blames no token where a password is wrong', async () => {
  expect(await saidOf(SERVICE, '~customer-8', { code: 'EMAIL_007', details: 'No.' })).toBe('')
})

test.each(['accounts.example.test', 'https://accounts.example.test/api', 'ftp://accounts.example.test'])(
  'the console says what the service %s has to look like',
  async (service) => {
    expect(await saidOf(service, `~${service}`)).toContain(
      `The service "${service}" has to be an origin without a path, such as https://accounts.example.com.`,
    )
  },
)
