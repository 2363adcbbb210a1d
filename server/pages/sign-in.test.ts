import { expect, test } from 'vitest'
import { authOptions } from './sign-in'

test('a sign-in or sign-out redirects to this service only, whatever its body names', async () => {
  const baseUrl = 'http://localhost:3000'
  const redirect = async (url: unknown) => authOptions().callbacks?.redirect?.({ url: url as string, baseUrl })
  expect(await redirect('/settings/email')).toBe(`${baseUrl}/settings/email`)
  for (const url of [{ toString: 1 }, [[]], 1, null, 'https://evil.test/', '//evil.test', '%']) {
    const led = await redirect(url)
    expect({ url, origin: new URL(led ?? '').origin }).toEqual({ url, origin: baseUrl })
  }
})
