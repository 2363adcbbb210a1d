import { randomInt } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'

/** The port of the loopback on which the server listens from now on: a free one, where none is given. */
export async function listening(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** For a server that another process starts: below the range from which the system itself gives ports away. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000)
    const isFree = await new Promise<boolean>((resolve) => {
      const probe = createServer()
      probe.once('error', () => resolve(false))
      probe.listen(port, () => probe.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}

/** Whether a request is answered, and well. */
export const isOk = (url: string, init: RequestInit = {}): Promise<boolean> =>
  fetch(url, init).then(
    ({ ok }) => ok,
    () => false,
  )

export const takesConnections = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
