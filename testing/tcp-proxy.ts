import { connect, createServer, type Server, type Socket } from 'node:net'
import { listening } from './listening'

/** A TCP proxy to a port of this machine. It can fall silent or be shut, and be opened again to the same or another port. */
export class TcpProxy {
  private server: Server | undefined
  private readonly sockets = new Set<Socket>()

  constructor(
    private target = 0,
    public port = 0,
  ) {}

  async open(target = this.target): Promise<void> {
    this.target = target
    this.server = createServer((near) => this.join(near))
    this.port = await listening(this.server, this.port)
  }

  private join(near: Socket) {
    const far = connect(this.target, '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.sockets.delete(socket) && other.destroy())
      socket.pipe(other)
    }
  }

  /** Silences the open connections and returns their number. Later connections work. */
  silence(): number {
    for (const socket of this.sockets) socket.unpipe().pause()
    return this.sockets.size / 2
  }

  /** Connections end, and new ones are refused. */
  async shut(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server?.close(() => resolve()))
    for (const socket of this.sockets) socket.destroy()
    await closed
  }
}
