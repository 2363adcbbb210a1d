import { withAmount } from '@/contract/amount'
import { AppError } from '@/contract/errors'
import { endBlocker } from '@/domain/withdrawal/push-blocker'
import { pushedBlockers } from '@/domain/withdrawal/show-account'
import { final, reading } from './command.ts'
import { anyAccount, checkActiveUser, idOf, personOf } from './values.ts'

const unknownBlocker = () => new AppError('REQUEST_001', 'The account has no such blocker: blocker list shows all.')

export const blockerCommands = [
  reading({
    name: 'blocker list',
    summary: 'Lists what services have pushed to hold a withdrawal of the account back.',
    options: anyAccount,
    oneOf: ['user', 'email'],
    async run(ctx, given) {
      const userId = idOf(given)
      await checkActiveUser(ctx, userId)
      return { user_id: userId, pushed_blockers: await pushedBlockers(ctx, userId) }
    },
  }),
  final({
    name: 'blocker end',
    summary: 'Ends a pushed blocker; the service is not told, and may push it again.',
    options: {
      ...anyAccount,
      source: { value: 'NAME', required: true, means: 'The service that has pushed it, as blocker list names it.' },
      key: { value: 'KEY', required: true, means: 'The name that this service gave it.' },
    },
    example: '--email ada@example.com --source billing --key invoice-4711',
    oneOf: ['user', 'email'],
    async asks(ctx, { source, key, ...given }) {
      const userId = idOf(given)
      const person = await personOf(ctx, userId)
      const found = (await pushedBlockers(ctx, userId)).find((one) => one.source === source && one.key === key)
      if (!found) throw unknownBlocker()
      return `End “${withAmount(found)}” of ${person}? ${source} is not told, and may hold the account back again.`
    },
    async run(ctx, { source, key, ...given }) {
      const ended = await endBlocker(ctx, { user_id: idOf(given), source, key })
      if (!ended.removed) throw unknownBlocker()
      return ended
    },
  }),
]
