import { createInterface } from 'node:readline/promises'
import { ApiError, changeEmail, createClient, verifyEmail } from 'user-account-service/client'

// Changes an address, and lets a wrong code be typed again.
const { BASE = 'http://localhost:3000', USER_ID: userId, TOKEN } = process.env
const [new_email, current_password] = process.argv.slice(2)
if (!userId || !TOKEN || !new_email || !current_password) {
  process.stderr.write(
    'Usage: BASE=http://localhost:3000 USER_ID=usr_… TOKEN=uat_… npx node examples/change-email.ts NEW_EMAIL PASSWORD\n',
  )
  process.exit(2)
}
const call = createClient({ baseUrl: BASE, accessToken: () => TOKEN })
const terminal = createInterface({ input: process.stdin, output: process.stderr })
const answers = terminal[Symbol.asyncIterator]()

try {
  const { change_request_id } = await call(changeEmail, { userId }, { new_email, current_password })
  for (;;) {
    terminal.setPrompt(`Code from the message to ${new_email}: `)
    terminal.prompt()
    const { value: verification_code = '' } = await answers.next()
    try {
      const changed = await call(verifyEmail, { userId }, { change_request_id, verification_code })
      process.stdout.write(`The address is now ${changed.new_email}.\n`)
      break
    } catch (error) {
      // A wrong code can be typed again; every other refusal ends the program.
      if (!(error instanceof ApiError) || error.code !== 'EMAIL_003') throw error
      process.stderr.write(`${error.details}\n`)
    }
  }
} catch (error) {
  if (!(error instanceof ApiError)) throw error
  const wait = error.retryAfterSeconds ? ` Try again in ${error.retryAfterSeconds} s.` : ''
  process.stderr.write(`${error.code} ${error.message}: ${error.details}${wait}\n`)
  process.exitCode = 1
} finally {
  terminal.close()
}
