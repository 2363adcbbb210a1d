import { serve } from '@hono/node-server'
import { createReceiver } from 'user-account-service/client'

// A connected application that handles a withdrawal. Without settings it plays the application of the demo account.
// PORT=… SIGNING_SECRET=whsec_… npx node examples/connected-application.ts
const { PORT = '4711', SIGNING_SECRET = 'whsec_c2lnbnMtZm9yLXRoZS1kZW1vLWNhbGVuZGFy' } = process.env

const receive = createReceiver({
  secrets: SIGNING_SECRET.split(' '),
  // Yours finds the data by `data.account`: after a deletion another account may have the same subject.
  handle({ type, data }) {
    // Sent at the start of a withdrawal to applications registered with `--event account.withdrawal_started`.
    if (type === 'account.withdrawal_started') process.stdout.write(`Ended the access of ${data.subject}\n`)
    if (type === 'account.withdrawn') process.stdout.write(`Forgot ${data.subject}\n`)
    return 'done'
  },
  // Asked of applications registered with `--confirms`. Yours looks for rows of the account.
  isPresent: () => false,
})

serve({ fetch: receive, port: Number(PORT), hostname: '127.0.0.1' }, () =>
  process.stdout.write(`Listening on http://127.0.0.1:${PORT}\n`),
).on('error', (error) => {
  process.stderr.write(`It cannot listen on port ${PORT}: ${error.message}. Set PORT to another.\n`)
  process.exitCode = 1
})
