import { expect, test } from 'vitest'
import type { ShownTask } from '@/contract/tasks'
import { willBeCalled } from './words'

test('only a task that is called by itself, and was not yet, cannot be of an application that nobody reaches', () => {
  const task = { state: 'pending', attempts: 0, due_at: '2026-11-20T10:00:00.000Z', polls: false } as ShownTask
  expect(willBeCalled(task)).toBe(true)
  const others: Partial<ShownTask>[] = [{ attempts: 1 }, { state: 'accepted' }, { due_at: null }, { polls: true }]
  for (const other of others) expect([other, willBeCalled({ ...task, ...other })]).toEqual([other, false])
})
