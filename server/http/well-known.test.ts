import { expect, test } from 'vitest'
import { GET as changePassword } from '@/app/.well-known/change-password/route'
import { GET } from '@/app/.well-known/security.txt/route'
import { givenService } from '@/testing/service'

test('security.txt names whom to tell about a fault of security, until a time that has not come', async () => {
  const { clock } = await givenService()
  const response = await GET()
  expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
  const [contact, expires, ...others] = (await response.text()).split('\n')
  expect(contact).toBe('Contact: mailto:support@example.com')
  expect(new Date((expires ?? '').replace('Expires: ', '')).getTime()).toBeGreaterThan(clock.now().getTime())
  expect(others).toEqual(['Canonical: http://localhost:3000/.well-known/security.txt', 'Preferred-Languages: en', ''])
})

test('a password manager is led to the page for a new password', async () => {
  await givenService()
  const response = await changePassword()
  expect([response.status, response.headers.get('Location')]).toEqual([302, 'http://localhost:3000/settings/password'])
})
