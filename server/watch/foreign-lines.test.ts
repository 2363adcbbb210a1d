import { expect, onTestFinished, test } from 'vitest'
import { logged } from '@/testing/install-context'
import { captureForeignLines } from './foreign-lines'

test('what packages print and Node warns of is one line each, without addresses, codes and tokens', async () => {
  const lines = logged()
  const before = { ...console }
  const listeners = process.listeners('warning')
  onTestFinished(() => {
    Object.assign(console, before)
    process.removeAllListeners('warning')
    for (const listener of listeners) process.on('warning', listener)
  })
  captureForeignLines()
  const { console: shell } = globalThis
  shell.log('Running next.config took 3ms')
  shell.error('\u001b[31m⨯\u001b[39m', 'unhandledRejection:', new TypeError('ada@example.test\nin two lines'))
  shell.warn('sent 042137 to <ada@example.test> with uat_0123456789abcdefghij\nand a second line')
  process.emitWarning('old', { type: 'DeprecationWarning', code: 'DEP9999', detail: 'two\nlines' })
  await new Promise((resolve) => setImmediate(resolve))
  expect(lines.every((line) => line.endsWith('}\n') && line.indexOf('\n') === line.length - 1)).toBe(true)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    // Chatter is no line of the log, which begins at `info`.
    { level: 'debug', text: 'Running next.config took 3ms' },
    { event: 'console', text: '⨯ unhandledRejection:', kind: 'TypeError' },
    { event: 'console', text: 'sent … to … with …' },
    { event: 'node_warning', text: 'old', kind: 'DeprecationWarning', code: 'DEP9999' },
  ])
})
