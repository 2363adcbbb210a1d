import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { listening } from '@/testing/listening'

/** Between engine and service: each call arrives and is carried out, and its first answer is lost on the way back. */
export class LossyNetwork {
  /** Answers that were lost. */
  lost = 0
  private readonly seen = new Set<string>()
  url = ''
  private server: Server | undefined

  static async start(serviceUrl: string): Promise<LossyNetwork> {
    const network = new LossyNetwork()
    network.server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const answer = await fetch(`${serviceUrl}${request.url}`, {
        method: request.method,
        headers: request.headers as Record<string, string>,
        body,
      }).catch(() => null)
      const text = await answer?.text()
      const call = createHash('sha256').update(`${request.url}${body}`).digest('hex')
      if (!answer || !network.seen.has(call)) {
        network.seen.add(call)
        network.lost++
        return request.socket.destroy()
      }
      return response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(text)
    })
    network.url = `http://127.0.0.1:${await listening(network.server)}`
    return network
  }

  stop() {
    this.server?.closeAllConnections()
    this.server?.close()
  }
}
