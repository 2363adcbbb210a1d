import { AppError } from '@/contract/errors'
import { endBlocker } from '@/domain/withdrawal/push-blocker'
import { pushedBlockers } from '@/domain/withdrawal/show-account'
import { command } from './command.ts'
import { checkActiveUser, idOf, namedAccount } from './values.ts'

export const blockerCommands = [
  command({
    name: 'blocker list',
    summary: 'Lists what services have pushed to hold a withdrawal of the account back.',
    options: namedAccount,
    oneOf: ['user', 'email'],
    async run(ctx, given) {
      const userId = await idOf(ctx, given, { takesUnverified: true })
      await checkActiveUser(ctx, userId)
      return { user_id: userId, pushed_blockers: await pushedBlockers(ctx, userId) }
    },
  }),
  command({
    name: 'blocker end',
    summary: 'Ends a pushed blocker; the service is not told, and may push it again.',
    options: {
      ...namedAccount,
      source: { value: 'NAME', required: true, means: 'The service that has pushed it, as blocker list names it.' },
      key: { value: 'KEY', required: true, means: 'The name that this service gave it.' },
    },
    example: '--email ada@example.com --source billing --key invoice-4711',
    oneOf: ['user', 'email'],
    isFinal: true,
    async run(ctx, { user, email, source, key }, _, agree) {
      const userId = await idOf(ctx, { user, email }, { takesUnverified: true })
      await agree(() => `End ${key} of ${source}, which holds a withdrawal of ${user ?? email} back?`)
      const ended = await endBlocker(ctx, { user_id: userId, source, key })
      if (!ended.removed) throw new AppError('REQUEST_001', 'The account has no such blocker: blocker list shows all.')
      return ended
    },
  }),
]
