import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, type TestContext, test } from 'vitest'
import { rssMib } from '@/lab/bench/services'
import type { Instance } from '@/testing/instance'
import { givenPeople } from '@/testing/people'
import { changeEmail, emailStatus, type Person } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, type World } from '@/testing/world'

const CLIENTS = Number(process.env.CLIENTS ?? 500)
const DRIP_MS = 1_000

const HIGH = '1000000'

async function givenRange(context: TestContext) {
  const world = await givenWorld(context, { READ_LIMIT: HIGH })
  const instance = await world.start()
  const [person] = (await givenPeople(world, 1)) as [Person]
  return { world, instance, person }
}

const headOf = ({ id, token }: Person, method: string, path: string, more = '') =>
  `${method} /api/v1/users/${id}/${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
  `X-Required-Scope: email:manage\r\n${more}`

interface SlowClient {
  socket: Socket
  received: string
  isClosed: boolean
  closed: Promise<unknown>
}

/** Sends `text` one byte a second until the server closes the connection. */
function drip(instance: Instance, begin: string, text: string): SlowClient {
  const { hostname, port } = new URL(instance.url)
  const socket = connect({ host: hostname, port: Number(port) })
  const client: SlowClient = {
    socket,
    received: '',
    isClosed: false,
    closed: new Promise((resolve) => socket.once('close', resolve)),
  }
  let at = 0
  socket.on('connect', () => socket.write(begin))
  socket.on('data', (chunk) => {
    client.received += chunk
  })
  socket.on('error', () => {})
  const timer = setInterval(() => socket.write(text[at++ % text.length] ?? 'x'), DRIP_MS)
  socket.on('close', () => {
    client.isClosed = true
    clearInterval(timer)
  })
  return client
}

const openFiles = ({ pid }: Instance) => readdirSync(`/proc/${pid}/fd`).length

/** Expects other clients to be served as usual until all slow clients are gone. */
async function expectServedMeanwhile(world: World, instance: Instance, clients: SlowClient[]) {
  const [reader] = (await givenPeople(world, 1)) as [Person]
  const writers = await givenPeople(world, 20)
  const statuses: number[] = []
  await until('all slow clients have connected', () => clients.every(({ socket }) => !socket.connecting))
  do {
    const writer = writers.pop()
    if (writer) statuses.push((await changeEmail(instance, writer)).status)
    statuses.push((await emailStatus(instance, reader)).status)
  } while (statuses.length < 100 || clients.some(({ isClosed }) => !isClosed))
  expect(new Set(statuses)).toEqual(new Set([200]))
  return statuses.length
}

test.for([
  ['their head', (person: Person) => [headOf(person, 'GET', 'email/status'), 'X-Slow: yes\r\n'] as const],
  [
    'their body',
    (person: Person) =>
      [
        headOf(person, 'POST', 'email/change', 'Content-Type: application/json\r\nContent-Length: 4000\r\n\r\n'),
        ' ',
      ] as const,
  ],
  [
    'a body in chunks',
    (person: Person) =>
      [
        headOf(person, 'POST', 'email/change', 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'),
        '1\r\n \r\n',
      ] as const,
  ],
] as const)(
  `L19 ${CLIENTS} clients that send %s a byte a second are cut off and delay nobody else`,
  async ([_what, form], context) => {
    const { world, instance, person } = await givenRange(context)
    await emailStatus(instance, person)
    const before = openFiles(instance)
    const memory = rssMib(instance.pid)
    const [begin, text] = form(person)
    const clients = Array.from({ length: CLIENTS }, () => drip(instance, begin, text))
    context.onTestFinished(() => {
      for (const { socket } of clients) socket.destroy()
    })
    const calls = await expectServedMeanwhile(world, instance, clients)
    // The service answers a slow client with a timeout, if at all.
    for (const { received } of clients) expect(received).toMatch(/^(?:HTTP\/1\.1 408 |$)/)
    await until('their sockets are given back', () => openFiles(instance) <= before + 20)
    process.stdout.write(`  ${calls} calls meanwhile; memory ${memory} → ${rssMib(instance.pid)} MiB\n`)
    expect(rssMib(instance.pid)).toBeLessThan(memory + 256)
    expect(instance.output).not.toContain('unexpected_error')
  },
)

/** Clients that send this and read no answer. */
function givenDeafClients(context: TestContext, instance: Instance, requests: string): Socket[] {
  const { hostname, port } = new URL(instance.url)
  const sockets = Array.from({ length: CLIENTS }, () => {
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(requests))
    socket.on('error', () => {})
    return socket.pause()
  })
  context.onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  return sockets
}

test(`L19 ${CLIENTS} clients that do not read their answers delay nobody else and use bounded memory`, async (context) => {
  const { world, instance } = await givenRange(context)
  const memory = rssMib(instance.pid)
  // The largest answer of the service, so often that the buffers of the system cannot hold it.
  const requests = 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(4)
  const sockets = givenDeafClients(context, instance, requests)
  const [reader] = (await givenPeople(world, 1)) as [Person]
  for (let count = 0; count < 200; count++) {
    expect((await emailStatus(instance, reader)).status).toBe(200)
  }
  process.stdout.write(`  memory ${memory} → ${rssMib(instance.pid)} MiB\n`)
  expect(rssMib(instance.pid)).toBeLessThan(memory + 384)
  for (const socket of sockets) socket.destroy()
  await until('their sockets are given back', () => openFiles(instance) < CLIENTS)
  expect((await emailStatus(instance, reader)).status).toBe(200)
})

test(`L19 ${CLIENTS} clients that send 200 requests at once and read no answer are cut off and use bounded memory`, async (context) => {
  const { world, instance, person } = await givenRange(context)
  const memory = rssMib(instance.pid)
  const requests = headOf(person, 'GET', 'email/status', '\r\n').repeat(200)
  givenDeafClients(context, instance, requests)
  const [reader] = (await givenPeople(world, 1)) as [Person]
  let most = memory
  for (let count = 0; count < 200; count++) {
    expect((await emailStatus(instance, reader)).status).toBe(200)
    most = Math.max(most, rssMib(instance.pid))
  }
  process.stdout.write(`  memory ${memory} → ${most} MiB\n`)
  expect(most).toBeLessThan(memory + 384)
  await until('their sockets are given back', () => openFiles(instance) < CLIENTS)
})
