import { expect, test } from 'vitest'
import { lookalikesOf, testContext } from '@/testing/domain'
import { createStatusToken, isStatusTokenOf } from './status-token'

test('a status token opens its own withdrawal and no other', async () => {
  const ctx = await testContext()
  const token = createStatusToken(ctx, 'wd_one')
  expect(token).toMatch(/^wst_[A-Za-z0-9_-]{43}$/)
  expect(isStatusTokenOf(ctx, token, 'wd_one')).toBe(true)
  expect(isStatusTokenOf(ctx, token, 'wd_two')).toBe(false)
})

test('only the exact form of a status token is accepted', async () => {
  const ctx = await testContext()
  const token = createStatusToken(ctx, 'wd_one')
  const mac = token.slice('wst_'.length)
  const others = [
    '',
    'wst_',
    mac,
    `x${token}`,
    `${token}x`,
    `${token}=`,
    `ust_${mac}`,
    token.slice(0, -1),
    `wst_\0${mac}`,
    ...lookalikesOf(token),
  ]
  expect(others.filter((text) => isStatusTokenOf(ctx, text, 'wd_one'))).toEqual([])
})

test('no other MAC of the same key serves as a status token', async () => {
  const ctx = await testContext()
  const mac = ctx.secrets.mac('session-token', 'wd_one').toString('base64url')
  expect(isStatusTokenOf(ctx, `wst_${mac}`, 'wd_one')).toBe(false)
})
