export const RECEIVER_LANGUAGES = { typescript: 'TypeScript', node: 'Node.js', python: 'Python' } as const
export type ReceiverLanguage = keyof typeof RECEIVER_LANGUAGES

/** What the receivers read from the environment. */
export const RECEIVER_VARIABLES = {
  PORT: 'Where the receiver listens.',
  SIGNING_SECRET:
    'The signing secret, `whsec_…`, that was shown once; after a rotation the old and the new one, with a space between.',
} as const

/** Whole programs, which refuse with 401 what the service has not signed. */
export const RECEIVER_SAMPLES: Record<ReceiverLanguage, string> = {
  typescript: `// npm install @hono/node-server, and the typed client that npm run pack:client packs.
import { serve } from '@hono/node-server'
import { createReceiver } from 'user-account-service/client'

const { PORT, SIGNING_SECRET = '' } = process.env
const receive = createReceiver({
  secrets: SIGNING_SECRET.split(' '),
  handle({ type, data }) {
    console.log(type, data.account) // On account.withdrawn, delete the person here: 'done' says that you have.
    return 'done'
  },
})
// receive takes a web Request, so that a route of Next, Hono, Deno or Bun can call it.
serve({ fetch: receive, port: Number(PORT), hostname: '127.0.0.1' })`,

  node: `import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

const { PORT, SIGNING_SECRET } = process.env
const keys = SIGNING_SECRET.match(/(?<=whsec_)\\S+/g).map((secret) => Buffer.from(secret, 'base64'))

function isSigned(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': sentAt, 'webhook-signature': signatures = '' } = headers
  const isInTime = Math.abs(Date.now() / 1000 - Number(sentAt)) <= 300
  const expected = keys.map((key) => {
    const digest = createHmac('sha256', key).update(\`\${id}.\${sentAt}.\`).update(body).digest('base64')
    return Buffer.from(\`v1,\${digest}\`)
  })
  const given = signatures.split(' ').map((signature) => Buffer.from(signature))
  const isSame = (one, other) => one.length === other.length && timingSafeEqual(one, other)
  return isInTime && given.some((one) => expected.some((other) => isSame(one, other)))
}

createServer(async (request, response) => {
  // The bytes as they came: a parser in front of this would change them. Of a call that is cut there are none.
  const body = await buffer(request).catch(() => '')
  if (!isSigned(request.headers, body)) return response.writeHead(401).end()
  try {
    console.log(JSON.parse(body)) // On account.withdrawn, delete the person here: 204 says that you have.
  } catch {
    return response.writeHead(400).end()
  }
  response.writeHead(204).end()
}).listen(Number(PORT), '127.0.0.1')`,

  python: `import hmac
import json
import time
from base64 import b64decode, b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import environ as env
from re import fullmatch

keys = [b64decode(secret.removeprefix("whsec_")) for secret in env["SIGNING_SECRET"].split()]

def is_signed(headers, body):
    message_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not fullmatch("[0-9]{1,12}", sent_at) or abs(time.time() - int(sent_at)) > 300:
        return False
    signed = f"{message_id}.{sent_at}.".encode() + body
    expected = [b"v1," + b64encode(hmac.digest(key, signed, "sha256")) for key in keys]
    given = headers.get("webhook-signature", "").encode().split()
    return any(hmac.compare_digest(one, other) for one in given for other in expected)

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The bytes as they came: a parser in front of this would change them.
        body = self.rfile.read(int(self.headers["content-length"]))
        status = 401
        if is_signed(self.headers, body):
            try:
                print(json.loads(body))  # On account.withdrawn, delete the person here: 204 says that you have.
                status = 204
            except ValueError:
                status = 400
        self.send_response(status)
        self.end_headers()

ThreadingHTTPServer(("127.0.0.1", int(env["PORT"])), Receiver).serve_forever()`,
}
