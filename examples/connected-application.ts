import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'

// A connected application that handles a withdrawal. Without settings it plays the application of the demo account.
// PORT=… SIGNING_SECRET=whsec_… npx node examples/connected-application.ts
const { PORT = '4711', SIGNING_SECRET = 'whsec_c2lnbnMtZm9yLXRoZS1kZW1vLWNhbGVuZGFy' } = process.env
const key = Buffer.from(SIGNING_SECRET.replace(/^whsec_/, ''), 'base64')
const MAX_CLOCK_SKEW_SECONDS = 5 * 60

/** True if the account service has signed the call recently. An old call is refused, because somebody may have recorded it. */
function isGenuine(headers: IncomingHttpHeaders, body: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > MAX_CLOCK_SKEW_SECONDS) return false
  const expected = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
  return String(signatures)
    .split(' ')
    .map((signature) => Buffer.from(signature))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected))
}

const server = createServer(async (request, response) => {
  const body = await text(request).catch(() => '')
  if (!isGenuine(request.headers, body)) return response.writeHead(401).end()
  const { type, data } = JSON.parse(body)
  // The service repeats a call until it is answered with 2xx, so handling it twice must change nothing.
  // Yours finds the data by `data.account`: after a deletion another account may have the same subject.
  // Sent at the start of a withdrawal to applications registered with `--event account.withdrawal_started`.
  if (type === 'account.withdrawal_started') process.stdout.write(`Ended the access of ${data.subject}\n`)
  if (type === 'account.withdrawn') process.stdout.write(`Forgot ${data.subject}\n`)
  response.writeHead(204).end()
})
server.on('error', (error) => {
  process.stderr.write(`It cannot listen on port ${PORT}: ${error.message}. Set PORT to another.\n`)
  process.exitCode = 1
})
server.listen(Number(PORT), '127.0.0.1', () => process.stdout.write(`Listening on http://127.0.0.1:${PORT}\n`))
