import { createInterface } from 'node:readline/promises'
import { ApiError, changeEmail, createClient, verifyEmail } from 'user-account-service/client'

// BASE_URL=… USER_ID=usr_… TOKEN=uat_… node examples/change-email.ts NEW_EMAIL PASSWORD
const { BASE_URL = 'http://localhost:3000', USER_ID: userId = '', TOKEN = '' } = process.env
const [new_email = '', current_password = ''] = process.argv.slice(2)
const call = createClient({ baseUrl: BASE_URL, accessToken: () => TOKEN })
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
