import { CONFIRMATION, parseIssueMessage } from '@/contract/errors'
import { REASONS } from '@/contract/vocabulary'
import { withdrawBody } from '@/contract/withdrawal'
import { lookUp } from '@/domain/accounts/look-up'
import { requireLevelLedger } from '@/domain/withdrawal/ledger/ledger-before-answer'
import { retryWithdrawal } from '@/domain/withdrawal/operate-withdrawal'
import { listReceipts } from '@/domain/withdrawal/receipts/receipts'
import { showWithdrawal } from '@/domain/withdrawal/show-withdrawal'
import { withdrawByOperator } from '@/domain/withdrawal/withdraw-account'
import { command, UsageError } from './command.ts'
import { checkActiveUser } from './values.ts'

const id = { value: 'wd_…', positional: true, required: true, means: 'The withdrawal.' } as const

export const withdrawalCommands = [
  command({
    name: 'withdrawal start',
    summary: 'Withdraws an account for somebody who asked for it; this cannot be undone.',
    options: {
      user: { value: 'usr_…', required: true, means: 'The account.' },
      reason: { value: 'REASON', choices: REASONS, means: 'Why the person leaves.' },
      feedback: { value: 'TEXT', means: "The person's words, which the reason other needs." },
    },
    async run(ctx, { user: userId, reason, feedback }) {
      await checkActiveUser(ctx, userId)
      await requireLevelLedger(ctx)
      const body = withdrawBody.safeParse({ confirmation: CONFIRMATION, reason, feedback })
      if (!body.success) throw new UsageError(`--${parseIssueMessage(body.error.issues[0]?.message ?? '').details}`)
      return { user_id: userId, ...(await withdrawByOperator(ctx, { ...body.data, userId })) }
    },
  }),
  command({
    name: 'withdrawal show',
    summary: 'Shows how far a withdrawal is, and what fails.',
    options: { id: { ...id, means: 'The withdrawal, or the usr_… of its account.' } },
    async run(ctx, { id }) {
      const found = await lookUp(ctx, id)
      if (found?.kind === 'user') throw new UsageError(`The account is not withdrawn: user show ${found.id}`)
      return showWithdrawal(ctx, found?.kind === 'withdrawal' ? found.id : id)
    },
  }),
  command({
    name: 'withdrawal retry',
    summary: 'Tries at once what has failed.',
    options: { id },
    run: (ctx, { id }) => retryWithdrawal(ctx, { withdrawalId: id }),
  }),
  command({
    name: 'receipt show',
    summary: 'Shows the receipts of a withdrawal.',
    options: { id },
    run: async (ctx, { id }) => {
      const { receipts } = await listReceipts(ctx, { withdrawalId: id })
      if (receipts.length === 0) throw new UsageError('There is no receipt of a withdrawal with this id.')
      return { withdrawal_id: id, receipts }
    },
  }),
]
