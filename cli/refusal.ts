import { withAmount } from '@/contract/amount'
import type { Blocker } from '@/contract/errors'

/** A value as `splitWords` and a shell take it. */
export const quoted = (text: string) => (/^[\w@.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

/** The command that ends it, where a service has pushed it; an application that was asked holds the account back itself. */
export type EndedBlocker = Blocker & { end?: string }

/** The sentence has said how many transactions are pending. A command stands alone in its line. */
export const linesOfBlocker = ({ source, title, amount, end, transactions = [] }: EndedBlocker): string[] =>
  transactions.length === 0
    ? [
        `${source}: ${withAmount({ title, amount })}`,
        ...(end ? ['To end it:', `  ${end}`] : [`It has to end at ${source}.`]),
      ]
    : [
        ...transactions.map((transaction) => `${transaction.id}: ${withAmount(transaction)}`),
        `transaction settle ${transactions[0]?.id} if the money has gone through, transaction cancel if it was called off.`,
      ]
