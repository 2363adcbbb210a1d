import { endAllSessions, endSessionOf, openSessionsOf } from '@/domain/sessions/sessions'
import { command } from './command.ts'
import { checkActiveUser, idOf, namedAccount } from './values.ts'

export const sessionCommands = [
  command({
    name: 'session list',
    summary: 'Lists the browser sessions that are signed in, last seen first.',
    options: namedAccount,
    oneOf: ['user', 'email'],
    async run(ctx, given) {
      const user = await idOf(ctx, given, { takesUnverified: true })
      await checkActiveUser(ctx, user)
      return { user_id: user, sessions: await openSessionsOf(ctx, user) }
    },
  }),
  command({
    name: 'session end',
    summary: 'Ends one browser session; or all of a user, which also cancels a pending change.',
    options: {
      id: { value: 'ses_…', positional: true, means: 'The session.' },
      user: { ...namedAccount.user, means: 'The account whose sessions all end.' },
      email: namedAccount.email,
    },
    oneOf: ['id', 'user', 'email'],
    async run(ctx, { id, ...account }) {
      if (id !== undefined) {
        const { userId } = await endSessionOf(ctx, id)
        return { user_id: userId, session_id: id, ended: 1 }
      }
      const user = await idOf(ctx, account)
      return { user_id: user, ended: await endAllSessions(ctx, user) }
    },
  }),
]
