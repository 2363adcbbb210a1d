import { AppError } from '@/contract/errors'
import { endBlocker } from '@/domain/withdrawal/push-blocker'
import { pushedBlockers } from '@/domain/withdrawal/show-account'
import { final, reading } from './command.ts'
import { anyAccount, checkActiveUser, idOf, personOf } from './values.ts'

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
    asks: async (ctx, { source, key, ...given }) =>
      `End ${key} of ${source}, which holds a deletion of ${await personOf(ctx, idOf(given))} back?`,
    async run(ctx, { source, key, ...given }) {
      const ended = await endBlocker(ctx, { user_id: idOf(given), source, key })
      if (!ended.removed) throw new AppError('REQUEST_001', 'The account has no such blocker: blocker list shows all.')
      return ended
    },
  }),
]
