import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, listening } from '@/testing/listening'
import { isPortTaken } from './taken-port.mjs'

test('a port is taken while somebody listens, and what is no port is not', async () => {
  const holder = createServer()
  onTestFinished(() => void holder.close())
  const port = await listening(holder, await freePort())
  expect(await isPortTaken(port, '127.0.0.1')).toBe(true)
  expect(await isPortTaken(await freePort(), '127.0.0.1')).toBe(false)
  expect(await isPortTaken(Number('many'), '127.0.0.1')).toBe(false)
})
