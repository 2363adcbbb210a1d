import { getServerSession } from 'next-auth'
import { cache } from 'react'
import type { Answer } from '@/contract/define'
import type { getEmailStatus as contract } from '@/contract/email'
import { authenticateSession } from '@/domain/access/authenticate'
import { getEmailStatus } from '@/domain/email/get-email-status'
import { authOptions } from './auth'
import { systemContext } from './context'

export interface PageSession {
  userId: string
  sessionId: string
  name: string
  emailStatus: Answer<typeof contract>
}

/** The person behind the cookie, as the database knows them now; null when signed out, revoked or withdrawn. Asked once a page. */
export const currentSession = cache(async (): Promise<PageSession | null> => {
  const session = await getServerSession(authOptions())
  const ctx = systemContext()
  const actor = session ? await authenticateSession(ctx, session.sessionId) : null
  if (!actor) return null
  const emailStatus = await getEmailStatus({ ...ctx, actor, ip: '', buckets: [] })
  return { userId: actor.userId, sessionId: actor.id, name: actor.user.name, emailStatus }
})
