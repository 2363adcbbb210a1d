import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { listening } from './listening'

export interface Received {
  at: number
  id: string
  headers: IncomingMessage['headers']
  body: string
}

/** What the application does with its nth call, counted from 1. */
export type Script = (call: number, response: ServerResponse, request: IncomingMessage) => unknown

/** A connected application on a port of its own. */
export class Application {
  url = ''
  readonly received: Received[] = []
  private readonly server: Server

  private constructor(
    readonly name: string,
    public script: Script,
  ) {
    this.server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      this.received.push({ at: Date.now(), id: String(request.headers['webhook-id']), headers: request.headers, body })
      await this.script(this.received.length, response, request)
    })
  }

  static async start(name: string, script: Script = accept): Promise<Application> {
    const application = new Application(name, script)
    application.url = `http://127.0.0.1:${await listening(application.server)}/account-withdrawn`
    return application
  }

  of(withdrawalId: string): Received[] {
    return this.received.filter(({ body }) => body.includes(withdrawalId))
  }

  stop() {
    this.server.closeAllConnections()
    this.server.close()
  }
}

export const accept: Script = (_call, response) => answer(response, 204)

export function answer(response: ServerResponse, status: number, headers: Record<string, string> = {}) {
  response.writeHead(status, headers).end()
}
