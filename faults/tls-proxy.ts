import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import type { Certificate } from '@/testing/certificate'
import { listening } from '@/testing/listening'

/** Ends https in front of an instance, as a reverse proxy does; it appends its peer to X-Forwarded-For. */
export class TlsProxy {
  /** The instance behind it. */
  target = ''
  url = ''
  private readonly server: Server
  private readonly sockets = new Set<Socket>()

  private constructor({ key, cert }: Certificate) {
    this.server = createServer({ key, cert }, (incoming, outgoing) => {
      const { method, url, headers, socket } = incoming
      const forwarded = [headers['x-forwarded-for'], socket.remoteAddress].filter(Boolean).join(', ')
      const onward = request(
        `${this.target}${url}`,
        { method, headers: { ...headers, 'x-forwarded-for': forwarded, 'x-forwarded-proto': 'https' } },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
          answer.pipe(outgoing)
        },
      )
      onward.on('error', () => outgoing.destroy())
      incoming.pipe(onward)
    })
    this.server.on('secureConnection', (socket) => {
      this.sockets.add(socket)
      socket.on('close', () => this.sockets.delete(socket))
    })
  }

  static async start(certificate: Certificate): Promise<TlsProxy> {
    const proxy = new TlsProxy(certificate)
    proxy.url = `https://localhost:${await listening(proxy.server)}`
    return proxy
  }

  stop() {
    this.server.close()
    for (const socket of this.sockets) socket.destroy()
  }
}
