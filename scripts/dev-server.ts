import { EventEmitter } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import next from 'next'
import { FOREIGN_HOST, isLocalHost } from '../server/http/local-host.ts'
import { portTakenMessage } from '../server/taken-port.mjs'

// A server of our own, because `next dev` cannot refuse requests by their Host header.
const hostname = '127.0.0.1'
const port = Number(process.env.PORT || 3000)
const isLocalMode = process.env.APP_ENV !== 'production'

const isRefused = ({ headers }: IncomingMessage) => isLocalMode && !isLocalHost(headers.host)

// Next registers its upgrade handler (hot reload) on the server that it is given.
const upgrades = new EventEmitter()
const pages = next({ dev: true, hostname, port, httpServer: upgrades as Server })
const prepared = pages.prepare()

const server = createServer(async (incoming, outgoing) => {
  if (isRefused(incoming)) return refuse(incoming, outgoing)
  await prepared
  return pages.getRequestHandler()(incoming, outgoing)
})
server.on('upgrade', (incoming, socket, head) => {
  if (isRefused(incoming) || !upgrades.emit('upgrade', incoming, socket, head)) socket.destroy()
})
server.on('error', (error: NodeJS.ErrnoException) => {
  process.stderr.write(error.code === 'EADDRINUSE' ? `${portTakenMessage(port)}\n` : `${error.stack}\n`)
  process.exit(1)
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0))
server.listen(port, hostname, () => process.stdout.write(`Ready on http://localhost:${port}\n`))
await prepared

/** The same refusal as `npm start`: the API's envelope, or a sentence. */
function refuse(incoming: IncomingMessage, outgoing: ServerResponse) {
  incoming.resume()
  const isApi = /^\/api\/v1(?:[/?]|$)/.test(incoming.url ?? '')
  const error = { code: 'REQUEST_001', message: 'Invalid request', details: FOREIGN_HOST }
  const timestamp = new Date().toISOString()
  outgoing
    .writeHead(isApi ? 400 : 421, {
      'Content-Type': `${isApi ? 'application/json' : 'text/plain'}; charset=utf-8`,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    })
    .end(isApi ? JSON.stringify({ success: false, error, timestamp }) : `${FOREIGN_HOST}\n`)
}
