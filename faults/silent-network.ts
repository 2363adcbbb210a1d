import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** Between a service and its database: connections that fall silent without an end, as those that a firewall has forgotten. */
export class SilentNetwork {
  private readonly pairs = new Set<[Socket, Socket]>()
  private server: Server | undefined

  static async start(databaseUrl: string): Promise<SilentNetwork> {
    const network = new SilentNetwork()
    const { hostname, port } = new URL(databaseUrl)
    network.server = createServer((near) => {
      const far = connect(Number(port), hostname)
      const pair: [Socket, Socket] = [near, far]
      network.pairs.add(pair)
      near.pipe(far)
      far.pipe(near)
      for (const socket of pair) {
        socket.on('error', () => {})
        socket.on('close', () => {
          network.pairs.delete(pair)
          for (const other of pair) other.destroy()
        })
      }
    })
    await new Promise<void>((resolve) => network.server?.listen(0, '127.0.0.1', resolve))
    return network
  }

  /** The same database, seen through this network. */
  url(databaseUrl: string): string {
    const address = this.server?.address() as AddressInfo
    return Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: String(address.port) }).href
  }

  /** What is connected now neither hears nor says anything any more; who connects later does. How many those were. */
  silence(): number {
    for (const [near, far] of this.pairs) {
      near.unpipe(far).pause()
      far.unpipe(near).pause()
    }
    return this.pairs.size
  }

  stop() {
    for (const pair of this.pairs) for (const socket of pair) socket.destroy()
    this.server?.close()
  }
}
