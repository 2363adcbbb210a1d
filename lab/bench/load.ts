import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/** A small load generator over raw sockets: one request at a time on each connection, each request sent once. */

export interface Call {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: object
}

export interface Result {
  perSecond: number
  p50: number
  p99: number
  answered: number
  failed: number
  /** The first refusal, to find out why. */
  refusal?: string
}

interface Load {
  port: number
  connections: number
  /** The n-th call, or null when there are no more. */
  next(): Call | null
  /** No new call after this many milliseconds. */
  maxMs: number
}

export async function putLoad({ port, connections, next, maxMs }: Load): Promise<Result> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => connectTo(port)))
  const took: number[] = []
  let failed = 0
  let refusal: string | undefined
  const startedAt = performance.now()
  await Promise.all(
    sockets.map(async (socket) => {
      while (performance.now() - startedAt < maxMs) {
        const call = next()
        if (!call) return
        const sentAt = performance.now()
        const answer = await exchange(socket, port, call)
        took.push(performance.now() - sentAt)
        if (answer.status >= 300) {
          failed++
          refusal ??= `${call.path}: ${answer.status} ${answer.text.slice(-300)}`
        }
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  for (const socket of sockets) socket.destroy()
  const sorted = Float64Array.from(took).sort()
  const at = (share: number) => Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 100) / 100
  return {
    perSecond: Math.round(took.length / seconds),
    p50: at(0.5),
    p99: at(0.99),
    answered: took.length,
    failed,
    refusal,
  }
}

function connectTo(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('connect', () => resolve(socket.on('error', () => {})))
    socket.once('error', reject)
  })
}

function exchange(socket: Socket, port: number, { method, path, headers, body }: Call) {
  const text = body ? JSON.stringify(body) : ''
  const lines = [`${method} ${path} HTTP/1.1`, `Host: localhost:${port}`]
  for (const name in headers) lines.push(`${name}: ${headers[name]}`)
  if (text) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`)
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    let received = ''
    const onData = (chunk: Buffer) => {
      received += chunk.toString('latin1')
      if (!isWhole(received)) return
      socket.off('data', onData)
      socket.off('close', onClose)
      resolve({ status: Number(received.slice(9, 12)), text: received })
    }
    const onClose = () => reject(new Error(`the connection for ${path} was closed after: ${received.slice(0, 300)}`))
    socket.on('data', onData)
    socket.once('close', onClose)
    socket.write(`${lines.join('\r\n')}\r\n\r\n${text}`)
  })
}

function isWhole(received: string): boolean {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /\r\ncontent-length: *(\d+)/i.exec(received)
  if (length && (length.index as number) < end) return received.length >= end + 4 + Number(length[1])
  return received.endsWith('0\r\n\r\n')
}

/** CPU time of a process in microseconds, all threads, from the scheduler; 0 when it has ended. */
export function cpuOf(pid: number | undefined): number {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce(
      (sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000,
      0,
    )
  } catch {
    return 0
  }
}
