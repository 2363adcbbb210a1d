import { connect, type Socket } from 'node:net'

export interface Shot {
  method: string
  path: string
  headers?: Record<string, string>
  body?: string
}

export interface Hit {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  body: any
  ms: number
}

/** `OK`, or the code of the refusal. */
export const codeOf = ({ status, body }: Hit): string => (status < 300 ? 'OK' : (body?.error?.code ?? `${status}`))

/**
 * Every request on a connection of its own, sent but for its last byte; then all last bytes at once, in turn to each of `urls`.
 * HTTP/1.1's form of the single-packet attack: no request begins to be handled before all of them have arrived.
 */
export async function fire(urls: string[], shots: Shot[]): Promise<Hit[]> {
  const loaded = await Promise.all(shots.map((shot, index) => load(urls[index % urls.length] as string, shot)))
  const startedAt = performance.now()
  for (const { release } of loaded) release()
  return Promise.all(loaded.map(({ answer }) => answer(startedAt)))
}

async function load(url: string, shot: Shot) {
  const { hostname, port } = new URL(url)
  const bytes = toBytes(shot)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', () => socket.write(bytes.subarray(0, -1), () => resolve()))
  })
  const ended = collect(socket)
  return {
    release: () => socket.write(bytes.subarray(-1)),
    answer: async (startedAt: number): Promise<Hit> => {
      const { received, at } = await ended
      return { ...parse(received), ms: at - startedAt }
    },
  }
}

function toBytes({ method, path, headers = {}, body }: Shot): Buffer {
  const all: Record<string, string> = { Host: 'localhost', Connection: 'close', ...headers }
  if (body !== undefined) {
    all['Content-Type'] ??= 'application/json'
    all['Content-Length'] = String(Buffer.byteLength(body))
  }
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${body ?? ''}`)
}

/** All that comes until the server ends the connection. */
function collect(socket: Socket): Promise<{ received: Buffer; at: number }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('end', () => resolve({ received: Buffer.concat(chunks), at: performance.now() }))
    socket.on('error', reject)
    socket.setTimeout(60_000, () => socket.destroy(new Error('no answer within a minute')))
  })
}

export function parse(received: Buffer): Omit<Hit, 'ms'> {
  const border = received.indexOf('\r\n\r\n')
  // 100 Continue comes before the answer.
  if (/^HTTP\/1\.1 1\d\d /.test(received.subarray(0, 13).toString('latin1')))
    return parse(received.subarray(border + 4))
  const [statusLine = '', ...lines] = received.subarray(0, border).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const rest = received.subarray(border + 4)
  const text = headers['transfer-encoding'] === 'chunked' ? unchunk(rest) : rest.toString()
  return { status: Number(statusLine.split(' ')[1]), headers, body: toJson(text) }
}

function unchunk(bytes: Buffer): string {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString(), 16)
    if (!size) break
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
  return Buffer.concat(parts).toString()
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
