import { expect, test, vi } from 'vitest'
import { testContext } from '@/testing/domain'
import { installContext } from '@/testing/install-context'
import { pageLanguage } from './language'
import { sessionIfReadable } from './session'

// What only Next has: a cookie that names a session, and the headers of a request.
vi.mock('next-auth', () => ({ getServerSession: async () => ({ sessionId: 'ses_of_a_browser' }) }))
vi.mock('next/headers', () => ({
  cookies: async () => ({ get: () => undefined }),
  headers: async () => new Headers({ 'Accept-Language': 'fr-CA, en;q=0.5' }),
}))

test('while the database is away, a page for which a browser sends a session comes in its language, signed out', async () => {
  const ctx = await testContext()
  const away = () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }))
  installContext({ ...ctx, sql: away })
  expect(await pageLanguage()).toBe('fr')
  expect(await sessionIfReadable()).toBeNull()
  installContext({ ...ctx, sql: () => Promise.reject(new Error('a bug')) })
  await expect(sessionIfReadable()).rejects.toThrow('a bug')
})
