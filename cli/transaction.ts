import { addTransaction, endTransaction, listTransactions } from '@/domain/applications/transactions'
import { command } from './command.ts'
import { checkActiveUser, toCents } from './values.ts'

const id = { value: 'txn_…', positional: true, required: true, means: 'The transaction.' } as const

const ends = (verb: string, status: 'settled' | 'cancelled') =>
  command({
    name: `transaction ${verb}`,
    summary: `Ends a pending transaction as ${status}.`,
    options: { id },
    run: (ctx, { id }) => endTransaction(ctx, { transactionId: id, status }),
  })

export const transactionCommands = [
  command({
    name: 'transaction list',
    summary: 'Lists the transactions of a user, or the pending ones of everybody, which hold withdrawals back.',
    options: { user: { value: 'usr_…', means: 'The account.' } },
    async run(ctx, { user: userId }) {
      const listed = await listTransactions(ctx, { userId })
      if (listed.transactions.length === 0 && userId) await checkActiveUser(ctx, userId)
      return listed
    },
  }),
  command({
    name: 'transaction add',
    summary: 'Records a transaction; a pending one holds a withdrawal back.',
    options: {
      user: { value: 'usr_…', required: true, means: 'The account.' },
      status: { value: 'STATUS', required: true, choices: ['pending', 'settled'], means: 'Its status.' },
      description: { value: 'TEXT', otherwise: 'Added by the operator', means: 'What it is about.' },
      'amount-cents': { value: 'N', otherwise: '0', read: toCents, means: 'The amount in cents.' },
    },
    async run(ctx, { user: userId, status, description, 'amount-cents': amountCents }) {
      return { transaction_id: await addTransaction(ctx, { userId, status, description, amountCents, ip: '' }) }
    },
  }),
  ends('settle', 'settled'),
  ends('cancel', 'cancelled'),
]
