import { withAmount } from '@/contract/amount'
import { AppError } from '@/contract/errors'
import { capitalized } from '@/contract/words'
import { wholeIdOf } from '@/domain/accounts/look-up'
import {
  addTransaction,
  endTransaction,
  listTransactions,
  unknownTransaction,
} from '@/domain/applications/transactions'
import { final, reading, revocable, UsageError } from './command.ts'
import { anyAccount, checkActiveUser, idOf, namedAccount, personOf, toAmount, toLink, toTitle } from './values.ts'

const id = { value: 'txn_…', find: wholeIdOf, positional: true, required: true, means: 'The transaction.' } as const

const ends = (verb: 'settle' | 'cancel', status: 'settled' | 'cancelled', when: string) =>
  final({
    name: `transaction ${verb}`,
    summary: `Ends a pending transaction as ${status}.`,
    options: { id },
    async asks(ctx, { id }) {
      const [found] = (await listTransactions(ctx, { id })).transactions
      if (!found) throw unknownTransaction()
      if (found.status !== 'pending') throw new AppError('REQUEST_001', `This transaction is ${found.status} already.`)
      const person = await personOf(ctx, found.user_id)
      return `${capitalized(verb)} “${withAmount(found)}” of ${person}? ${capitalized(verb)} it if ${when}. This moves no money.`
    },
    run: (ctx, { id }) => endTransaction(ctx, { transactionId: id, status }),
  })

export const transactionCommands = [
  reading({
    name: 'transaction list',
    summary: 'Lists the transactions of an account, or the pending ones of everybody, which hold withdrawals back.',
    options: anyAccount,
    async run(ctx, given) {
      if (given.user && given.email) throw new UsageError('Give --user or --email, not both.')
      const isNamed = given.user !== undefined || given.email !== undefined
      const userId = isNamed ? idOf(given) : undefined
      const listed = await listTransactions(ctx, { userId })
      if (listed.transactions.length === 0 && userId) await checkActiveUser(ctx, userId)
      return userId ? { user_id: userId, ...listed } : listed
    },
  }),
  revocable({
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
      const userId = idOf({ user, email })
      return { transaction_id: await addTransaction(ctx, { ...transaction, userId, ip: '' }) }
    },
  }),
  ends('settle', 'settled', 'the money has gone through'),
  ends('cancel', 'cancelled', 'it was called off'),
]
