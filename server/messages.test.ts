import { expect, test } from 'vitest'
import type { Message } from '@/domain/context'
import { renderMessage } from './messages'

const settings = { supportEmail: 'support@accounts.test', appUrl: 'https://accounts.test' }
const changed = (userName: string): Message => ({
  template: 'email-changed',
  userName,
  oldEmail: 'old@example.test',
  newEmail: 'new@example.test',
  changedAt: new Date('2026-11-20T09:00:00Z'),
  ipAddress: '192.0.2.1',
})

test('one message to two addresses is rendered once, and nobody gets the rendering of another', async () => {
  const ada = changed('Ada')
  expect(renderMessage(ada, settings)).toBe(renderMessage(ada, settings))
  const [first, second] = await Promise.all([renderMessage(ada, settings), renderMessage(changed('Bob'), settings)])
  expect([first.text, second.text]).toEqual([
    expect.stringContaining('Hello Ada'),
    expect.stringContaining('Hello Bob'),
  ])
})
