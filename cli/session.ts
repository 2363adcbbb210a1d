import { endAllSessions, endSessionOf, openSessionsOf } from '@/domain/sessions/sessions'
import { final, reading } from './command.ts'
import { anyAccount, checkActiveUser, idOf, namedAccount, personOf } from './values.ts'

export const sessionCommands = [
  reading({
    name: 'session list',
    summary: 'Lists the browser sessions that are signed in, last seen first.',
    options: anyAccount,
    oneOf: ['user', 'email'],
    async run(ctx, given) {
      const user = idOf(given)
      await checkActiveUser(ctx, user)
      return { user_id: user, sessions: await openSessionsOf(ctx, user) }
    },
  }),
  final({
    name: 'session end',
    summary: 'Ends one browser session; or all of an account, which also cancels a pending change.',
    options: {
      id: { value: 'ses_…', positional: true, means: 'The session.' },
      user: { ...namedAccount.user, means: 'The account whose sessions all end.' },
      email: namedAccount.email,
    },
    oneOf: ['id', 'user', 'email'],
    asks: async (ctx, { id, ...account }) =>
      id === undefined
        ? `End every session of ${await personOf(ctx, idOf(account))}, and cancel a pending change of the address?`
        : `End the session ${id}?`,
    async run(ctx, { id, ...account }) {
      if (id !== undefined) {
        const { userId } = await endSessionOf(ctx, id)
        return { user_id: userId, session_id: id, ended: 1 }
      }
      const user = idOf(account)
      return { user_id: user, ended: await endAllSessions(ctx, user) }
    },
  }),
]
