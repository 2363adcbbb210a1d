import { count } from '@/contract/words'
import { ownerOf } from '@/domain/sessions/end-one'
import { endAllSessions, endSessionOf, openSessionsOf } from '@/domain/sessions/sessions'
import { final, reading } from './command.ts'
import { timeOf } from './show.ts'
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
    summary: 'Ends one browser session; or all of an account, which also cancels a pending change of the address.',
    options: {
      id: { value: 'ses_…', positional: true, means: 'The session.' },
      user: { ...namedAccount.user, means: 'The account whose sessions all end.' },
      email: namedAccount.email,
    },
    oneOf: ['id', 'user', 'email'],
    async asks(ctx, { id, ...account }) {
      const userId = id === undefined ? idOf(account) : await ownerOf(ctx, 'session', id)
      const person = await personOf(ctx, userId)
      const session = (await openSessionsOf(ctx, userId)).find(({ session_id }) => session_id === id)
      return session
        ? `End the session of ${person}, last seen ${timeOf(new Date(session.last_seen_at), ctx.clock.now())} from ${session.ip_address}?`
        : `End every session of ${person}, and cancel a pending change of the address?`
    },
    async run(ctx, { id, ...account }) {
      if (id !== undefined) {
        const { userId } = await endSessionOf(ctx, id)
        return { user_id: userId, session_id: id, ended: 1 }
      }
      const user = idOf(account)
      return { user_id: user, ended: await endAllSessions(ctx, user) }
    },
    says: ({ ended, session_id }: { ended: number; session_id?: string }) =>
      `${count(ended, 'session')} ended.${session_id ? '' : ' Access tokens still work: token revoke ends them.'}`,
  }),
]
