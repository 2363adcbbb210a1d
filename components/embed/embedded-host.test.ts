import { afterEach, expect, test, vi } from 'vitest'
import { createCalls } from './embedded-host'
import type { PageToken } from './types'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Asks the page for a token, and returns why it has none, how often it was asked, and what the parts learned of the account. */
async function askFor(pageToken: () => Promise<PageToken | null>) {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  const tokenSource = vi.fn(pageToken)
  const found: boolean[] = []
  const calls = createCalls({
    baseUrl: 'https://accounts.example.test',
    pageToken: tokenSource,
    onProof: () => {},
    onFound: (isFound) => found.push(isFound),
  })
  const error = await calls.call('getEmailStatus', { userId: 'usr_1' }).catch((error) => error)
  return { error, found, times: tokenSource.mock.calls.length, isLogged: logged.mock.calls.length > 0 }
}

const answerOf = (answer: object | undefined) => async () => answer as PageToken

test.each([
  ['nobody is signed in', async () => null, { code: 'AUTH_001', found: [], isLogged: false }],
  [
    'there is no account',
    answerOf({ error: { code: 'USER_001' } }),
    { code: 'USER_001', found: [false], isLogged: false },
  ],
  ['the backend fails', answerOf({ error: { code: 'AUTH_001' } }), { code: 'SERVER_002', found: [], isLogged: true }],
  ['the page returns nothing', answerOf(undefined), { code: 'SERVER_002', found: [], isLogged: true }],
  [
    'nothing answers',
    () => Promise.reject(new TypeError('Failed to fetch')),
    { code: 'SERVER_002', found: [], isLogged: false },
  ],
])('where %s, the parts say so, and the page is asked once', async (_what, pageToken, { code, ...known }) => {
  expect(await askFor(pageToken)).toEqual({ error: expect.objectContaining({ code }), times: 1, ...known })
})

test('a page that gives no token within fifteen seconds counts as away, and the console says why', async () => {
  vi.useFakeTimers()
  const answer = askFor(() => new Promise(() => {}))
  await vi.advanceTimersByTimeAsync(15_000)
  expect(await answer).toMatchObject({ error: { code: 'SERVER_002', status: 0 }, isLogged: true })
})
