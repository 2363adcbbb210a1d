import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, listening } from '@/testing/listening'
import { isTaken } from './taken-port.mjs'

test('a port is taken while somebody listens, and what is no port is not', async () => {
  const holder = createServer()
  onTestFinished(() => void holder.close())
  const port = await listening(holder, await freePort())
  expect(await isTaken(port, '127.0.0.1')).toBe(true)
  expect(await isTaken(await freePort(), '127.0.0.1')).toBe(false)
  expect(await isTaken(Number('many'), '127.0.0.1')).toBe(false)
})
