import { formatAmount, withAmount } from '@/contract/amount'
import {
  type ShownAccount,
  type ShownBlocker,
  type ShownTransaction,
  shownBlocker,
  shownTransaction,
} from '@/contract/operator'
import { capitalized } from '@/contract/words'
import { OperatorButton } from './operator-button'
import { TablePart } from './part'

/** What the product has recorded, and holds a deletion back. */
export const PendingTransactions = ({ of }: { of: ShownAccount }) => (
  <TablePart
    title="Pending transactions"
    description="Each holds a deletion back until it is settled or cancelled."
    of={shownTransaction}
    rows={of.pending_transactions}
    id="transaction_id"
    fields={{
      title: ({ title, transaction_id }) => (
        <div id={transaction_id} className="scroll-mt-6">
          {title} <span className="block font-mono font-normal text-ink-muted">{transaction_id}</span>
        </div>
      ),
      amount: amountIn,
      url: true,
      created_at: true,
    }}
    actions={transactionButtons}
    none="No transaction is pending."
  />
)

/** What services have pushed, and holds a deletion back. */
export const PushedBlockers = ({ of }: { of: ShownAccount }) => (
  <TablePart
    title="Held back by services"
    description="Each holds a deletion back until its service removes it, its time is over, or you end it."
    of={shownBlocker}
    rows={of.pushed_blockers}
    id={idOfBlocker}
    fields={{
      title: ({ title, key }) => (
        <>
          {title} <span className="block font-mono font-normal text-ink-muted">{key}</span>
        </>
      ),
      amount: amountIn,
      source: true,
      code: true,
      url: true,
      created_at: true,
      expires_at: true,
    }}
    actions={blockerButton(of.user_id)}
    none={of.pending_transactions.length > 0 ? 'Nothing else holds a deletion back.' : 'Nothing holds a deletion back.'}
  />
)

const amountIn = ({ amount }: Pick<ShownTransaction, 'amount'>) =>
  amount && <span className="whitespace-nowrap">{formatAmount(amount, 'en')}</span>

/** Two services may use the same key. */
const idOfBlocker = ({ source, key }: ShownBlocker) => `${source} ${key}`

const AFTERWARDS =
  'After this it no longer blocks deleting the account. This cannot be undone, and is written into the audit log.'

const ENDS = {
  settled: {
    label: 'Settle',
    confirm: 'Settle',
    confirmVariant: 'primary',
    where: 'Settle it if the money has gone through.',
  },
  cancelled: { label: 'Cancel', confirm: 'Cancel it', where: 'Cancel it if it was called off.' },
} as const

const transactionButtons = (transaction: ShownTransaction) =>
  (['settled', 'cancelled'] as const).map((status) => {
    const { label, where, ...confirm } = ENDS[status]
    return (
      <OperatorButton
        key={status}
        operation="endTransaction"
        params={{ transactionId: transaction.transaction_id }}
        of={transaction.title}
        body={{ status }}
        label={label}
        ask={{
          question: `${label} ${withAmount(transaction)}?`,
          consequence: `${where} This moves no money. ${AFTERWARDS}`,
          keep: 'Keep it pending',
          ...confirm,
        }}
        outcome={`${capitalized(status)}: ${transaction.title}.`}
      />
    )
  })

const blockerButton = (userId: string) => (blocker: ShownBlocker) => (
  <OperatorButton
    operation="endBlocker"
    params={{}}
    body={{ user_id: userId, source: blocker.source, key: blocker.key }}
    label="End"
    of={`${blocker.title} (${blocker.key})`}
    ask={{
      question: `End ${withAmount(blocker)} (${blocker.key})?`,
      consequence: `${AFTERWARDS} ${blocker.source} is not told, and may hold the account back again.`,
      keep: 'Keep it open',
      confirm: 'End it',
    }}
    outcome={`Ended: ${blocker.title} (${blocker.key}).`}
  />
)
