import type { AddressInfo, Server } from 'node:net'

/** The port of the loopback on which the server listens from now on: a free one, where none is given. */
export async function listening(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
