import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { processState } from '../process-state'
import { inRequest } from '../watch/log'
import { answer503WhileAway, orDatabaseAwayPage, unlessAway } from './away'

afterEach(() => vi.useRealTimers())

const awayError = () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })

test('a page goes on without what a frozen database does not answer, long before its time limits', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const frozen = new Promise<string>(() => {})
  const read = unlessAway(frozen, 'signed out')
  await vi.advanceTimersByTimeAsync(3_000)
  expect(await read).toBe('signed out')
})

test('a page shows what the database answers, goes on without one that is away, and tells any other error', async () => {
  expect(await unlessAway(Promise.resolve('Ada'), null)).toBe('Ada')
  expect(await unlessAway(Promise.reject(awayError()), null)).toBeNull()
  await expect(unlessAway(Promise.reject(new Error('a fault')), null)).rejects.toThrow('a fault')
})

/** Answers as Next does: 500 for a page that throws. */
function pageThat(read: () => Promise<unknown>): Server {
  const server = createServer((_, outgoing) => {
    answer503WhileAway(outgoing, 'req_1')
    outgoing.statusCode = 200
    const made = inRequest('req_1', () => orDatabaseAwayPage(read()))
    void made
      .catch(() => {
        outgoing.statusCode = 500
      })
      .then(() => outgoing.end())
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  return server
}

test('a page that the database keeps from being made is to be asked for again, and no other', async () => {
  const answerOf = async (read: () => Promise<unknown>) => {
    const server = pageThat(read)
    await once(server, 'listening')
    const { status, headers } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    return [status, headers.get('Retry-After')]
  }
  expect(await answerOf(() => Promise.reject(awayError()))).toEqual([503, '5'])
  expect(await answerOf(() => Promise.reject(new Error('a fault')))).toEqual([500, null])
  expect(await answerOf(async () => 'Ada')).toEqual([200, null])
})

test('a page whose reader has left before the database fails leaves nothing behind', async () => {
  const read = Promise.withResolvers<unknown>()
  const server = pageThat(() => read.promise)
  await once(server, 'listening')
  const leave = new AbortController()
  const left = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { signal: leave.signal })
  await vi.waitFor(() => expect(processState.awayHandlers.size).toBe(1), 5_000)
  leave.abort()
  await expect(left).rejects.toThrow()
  await vi.waitFor(() => expect(processState.awayHandlers.size).toBe(0), 5_000)
  read.reject(awayError())
  await expect(read.promise).rejects.toThrow()
  expect(processState.awayHandlers.size).toBe(0)
})
