import { setTimeout } from 'node:timers/promises'
import { ApiError, createClient, getWithdrawalStatus, withdrawAccount } from 'user-account-service/client'

// Withdraws an account and prints each step until the end.
const { BASE = 'http://localhost:3000', USER_ID: userId, TOKEN } = process.env
if (!userId || !TOKEN) {
  process.stderr.write('Usage: BASE=http://localhost:3000 USER_ID=usr_… TOKEN=uat_… npx node examples/withdraw.ts\n')
  process.exit(2)
}
const client = (token: string) => createClient({ baseUrl: BASE, accessToken: () => token })

try {
  const started = await client(TOKEN)(withdrawAccount, { userId }, { confirmation: 'DELETE_MY_ACCOUNT' })
  // The status token still reads the progress after every other token of the user has ended.
  const call = client(started.status_token)
  const printed = new Set<string>()
  for (let waitMs = 500; ; waitMs = Math.min(waitMs * 1.5, 30_000)) {
    const status = await call(getWithdrawalStatus, { userId, withdrawalId: started.withdrawal_id })
    for (const { step, status: state } of status.deletion_steps) {
      if (state !== 'completed' || printed.has(step)) continue
      printed.add(step)
      process.stdout.write(`${step} completed\n`)
    }
    if (status.status === 'completed') break
    await setTimeout(waitMs)
  }
  process.stdout.write('The account is deleted.\n')
} catch (error) {
  if (!(error instanceof ApiError)) throw error
  process.stderr.write(`${error.code} ${error.message}: ${error.details}\n`)
  process.exitCode = 1
}
