import * as z from 'zod'
import { contract } from './define'
import { accountAddress } from './fields'
import { previewWithdrawal, withdrawAccount } from './withdrawal'

const common = { tag: 'Account', params: z.object({}) } as const
/** The wrapper finds the account of the link, as it finds any other caller. */
const link = { ...common, bearer: 'account_link' } as const

export const requestWithdrawal = contract({
  ...common,
  name: 'requestWithdrawal',
  summary: 'Request Withdrawal By Mail',
  description:
    'For people who cannot sign in: mails a link that deletes the account with this address. The answer is the same when there is no such account.',
  method: 'POST',
  path: '/withdrawal-requests',
  bearer: 'none',
  body: z.object({ email: accountAddress }),
  data: z.object({
    accepted: z
      .literal(true)
      .describe(
        'True whether there is such an account or not: the mail is sent after the answer, or once the mail server takes it',
      ),
  }),
  message: 'If an account has this address, we sent a message.',
  status: 202,
  errors: ['RATE_001'],
  example: { body: { email: 'ada@example.com' }, data: { accepted: true } },
})

/** Applications are asked at the confirmation alone. */
const { ask: _, ...choices } = previewWithdrawal.query.shape

export const previewRequestedWithdrawal = contract({
  ...link,
  name: 'previewRequestedWithdrawal',
  summary: 'Preview Withdrawal By Mail',
  description:
    'Counts, with the token of the mailed link, what the withdrawal would delete and keep. It starts nothing and does not use the link up.',
  method: 'GET',
  path: '/withdrawal-requests/preview',
  query: z.object(choices),
  data: previewWithdrawal.data,
  limit: { bucket: 'preview' },
  errors: ['REQUEST_001', 'WITHDRAWAL_006', 'RATE_001'],
  example: {
    query: previewWithdrawal.example.query,
    data: { ...previewWithdrawal.example.data, address: 'a••••@example.com' },
  },
})

export const confirmRequestedWithdrawal = contract({
  ...link,
  name: 'confirmRequestedWithdrawal',
  summary: 'Confirm Withdrawal By Mail',
  description:
    'Withdraws the account with the token of the mailed link, like Withdraw Account. A new password or address ends the link, as does its use.',
  method: 'POST',
  path: '/withdrawal-requests/confirm',
  body: withdrawAccount.body,
  data: withdrawAccount.data.extend({ user_id: z.string().describe('The account, `usr_…`') }),
  message: withdrawAccount.message,
  status: 202,
  location: '/users/{user_id}/withdrawal/{withdrawal_id}',
  limit: { bucket: 'withdraw', countedBy: 'verb' },
  withdrawn: 'refused',
  waitsForLedger: true,
  errors: ['WITHDRAWAL_001', 'WITHDRAWAL_003', 'WITHDRAWAL_006', 'RATE_001'],
  example: {
    body: withdrawAccount.example.body,
    data: { ...withdrawAccount.example.data, user_id: 'usr_2sV5yB8nQ1wE4rT7uI0oPa' },
  },
})
