import { AppError } from '@/contract/errors'
import type { SystemContext } from '../context'
import { openAccount, statement } from '../sql'

interface Connect {
  id: string
  userId: string
  appId: string
  subject: string
  now: Date
}

const insertConnection = statement<Connect, { id: string }>(
  'connect-app',
  (v) => `WITH account AS (${openAccount(v.userId)})
   INSERT INTO app_connections (id, user_id, app_id, subject, connected_at)
   SELECT ${v.id}, account.id, a.id, ${v.subject}, ${v.now} FROM account, connected_apps a WHERE a.id = ${v.appId}
   ON CONFLICT (user_id, app_id) DO UPDATE SET subject = excluded.subject
   RETURNING id`,
)

export async function connectApp(
  ctx: SystemContext,
  input: { userId: string; appId: string; subject: string },
): Promise<string> {
  const id = ctx.secrets.randomId('con_')
  const [row] = await ctx.sql(insertConnection, { ...input, id, now: ctx.clock.now() })
  if (row) return row.id
  const isApp = (await ctx.db.connectedApp.count({ where: { id: input.appId } })) > 0
  throw new AppError('REQUEST_001', `There is no ${isApp ? 'active user' : 'application'} with this id.`)
}
