import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { processState } from '../process-state'
import { captureForeignLines } from './foreign-lines'

test('what packages print and Node warns of is one line each, without addresses, codes and tokens', async () => {
  const logged: string[] = []
  const before = { ...console }
  const listeners = process.listeners('warning')
  processState.log = pino({ base: null }, { write: (line: string) => void logged.push(line) })
  onTestFinished(() => {
    Object.assign(console, before)
    process.removeAllListeners('warning')
    for (const listener of listeners) process.on('warning', listener)
  })
  captureForeignLines()
  const { console: shell } = globalThis
  shell.error('\u001b[31m⨯\u001b[39m', 'unhandledRejection:', new TypeError('ada@example.test\nin two lines'))
  shell.warn('sent 042137 to <ada@example.test> with uat_0123456789abcdefghij\nand a second line')
  process.emitWarning('old', { type: 'DeprecationWarning', code: 'DEP9999', detail: 'two\nlines' })
  await new Promise((resolve) => setImmediate(resolve))
  expect(logged.every((line) => line.endsWith('}\n') && line.indexOf('\n') === line.length - 1)).toBe(true)
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'console', text: '⨯ unhandledRejection:', kind: 'TypeError' },
    { event: 'console', text: 'sent … to … with …' },
    { event: 'node_warning', text: 'old', kind: 'DeprecationWarning', code: 'DEP9999' },
  ])
})
