import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { lookUntilBack, onceBack } from './service-away'

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal(
    'window',
    Object.assign(new EventTarget(), { location: { href: 'https://accounts.example.test/settings' } }),
  )
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('a page that found the service away looks every three seconds, and hears once that it is back', async () => {
  const answers = [null, new Response(null, { status: 503 }), new Response(null, { status: 200 })]
  const urls: string[] = []
  vi.stubGlobal('fetch', async (url: URL) => {
    urls.push(url.href)
    return answers.shift() ?? Promise.reject(new TypeError('fetch failed'))
  })
  const heard = vi.fn()
  onceBack(heard)
  lookUntilBack('/api/v1/users/usr_1/email-status')
  lookUntilBack('/api/v1/users/usr_1/email-status')
  await vi.advanceTimersByTimeAsync(6_000)
  expect(heard).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(30_000)
  expect(heard).toHaveBeenCalledOnce()
  expect(urls).toEqual(Array(3).fill('https://accounts.example.test/api/health/ready'))
})
