import { addTransaction, endTransaction, listTransactions } from '@/domain/applications/transactions'
import { command, UsageError } from './command.ts'
import { checkActiveUser, idOf, namedAccount, toAmount, toLink, toTitle } from './values.ts'

const id = { value: 'txn_…', positional: true, required: true, means: 'The transaction.' } as const

const ends = (verb: string, status: 'settled' | 'cancelled') =>
  command({
    name: `transaction ${verb}`,
    summary: `Ends a pending transaction as ${status}.`,
    options: { id },
    isFinal: true,
    async run(ctx, { id }, _, agree) {
      await agree(() => `End the transaction ${id} as ${status}?`)
      return endTransaction(ctx, { transactionId: id, status })
    },
  })

export const transactionCommands = [
  command({
    name: 'transaction list',
    summary: 'Lists the transactions of a user, or the pending ones of everybody, which hold withdrawals back.',
    options: namedAccount,
    async run(ctx, given) {
      if (given.user && given.email) throw new UsageError('Give --user or --email, not both.')
      const isNamed = given.user !== undefined || given.email !== undefined
      const userId = isNamed ? await idOf(ctx, given, { takesUnverified: true }) : undefined
      const listed = await listTransactions(ctx, { userId })
      if (listed.transactions.length === 0 && userId) await checkActiveUser(ctx, userId)
      return listed
    },
  }),
  command({
    name: 'transaction add',
    summary: 'Records a transaction; a pending one holds a withdrawal back.',
    options: {
      ...namedAccount,
      status: { value: 'STATUS', otherwise: 'pending', choices: ['pending', 'settled'], means: 'Its status.' },
      title: {
        value: 'TEXT',
        otherwise: 'Added by the operator',
        read: toTitle,
        means: 'What it is about, as the person reads it.',
      },
      amount: { value: 'AMOUNT', read: toAmount, means: 'What has to be paid, such as 12.50EUR or 1250JPY.' },
      url: { value: 'URL', read: toLink, means: 'Where the person pays it: https, in local mode http too.' },
    },
    example: "--email ada@example.com --title 'Order 1042' --amount 12.50EUR",
    oneOf: ['user', 'email'],
    async run(ctx, { user, email, ...transaction }) {
      const userId = await idOf(ctx, { user, email })
      return { transaction_id: await addTransaction(ctx, { ...transaction, userId, ip: '' }) }
    },
  }),
  ends('settle', 'settled'),
  ends('cancel', 'cancelled'),
]
