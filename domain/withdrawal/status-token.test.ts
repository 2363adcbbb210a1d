import { expect, test } from 'vitest'
import { lookalikesOf } from '@/testing/account'
import { testContext } from '@/testing/domain'
import { createStatusToken, isStatusTokenOf } from './status-token'

test('a status token opens its own withdrawal alone, in its exact form, and no other MAC of the same key serves', async () => {
  const ctx = await testContext()
  const token = createStatusToken(ctx, 'wd_one')
  expect(token).toMatch(/^wst_[A-Za-z0-9_-]{43}$/)
  expect(isStatusTokenOf(ctx, token, 'wd_one')).toBe(true)
  expect(isStatusTokenOf(ctx, token, 'wd_two')).toBe(false)
  const mac = token.slice('wst_'.length)
  const otherMac = ctx.secrets.mac('session-token', 'wd_one').toString('base64url')
  const others = [
    ...['', 'wst_', mac, `x${token}`, `${token}x`, `${token}=`, token.slice(0, -1)],
    ...[`ust_${mac}`, `wst_\0${mac}`, `wst_${otherMac}`, ...lookalikesOf(token)],
  ]
  expect(others.filter((text) => isStatusTokenOf(ctx, text, 'wd_one'))).toEqual([])
})
