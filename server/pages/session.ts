import { getServerSession } from 'next-auth'
import { cache } from 'react'
import type { Answer } from '@/contract/define'
import type { getEmailStatus as contract } from '@/contract/email'
import { authenticateSession } from '@/domain/access/authenticate'
import { touchSession } from '@/domain/access/sessions'
import type { Context } from '@/domain/context'
import { getEmailStatus } from '@/domain/email/get-email-status'
import { systemContext } from '../context'
import { authOptions } from './sign-in'

export interface PageSession {
  userId: string
  sessionId: string
  name: string
  emailStatus: Answer<typeof contract>
}

/** The context of the signed-in person, read from the database once for each page. Null when signed out, revoked or withdrawn. */
export const pageContext = cache(async (): Promise<Context | null> => {
  const session = await getServerSession(authOptions())
  const ctx = systemContext()
  const actor = session?.sessionId ? await authenticateSession(ctx, session.sessionId) : null
  if (!actor) return null
  ctx.background(() => touchSession(ctx, actor.id))
  return { ...ctx, actor, ip: '', buckets: [] }
})

/** The parts of the session that the header of a page shows. */
export const accountOf = ({ name, emailStatus }: PageSession) => ({ name, email: emailStatus.current_email })

/** The facts about the signed-in person that every page shows. */
export const currentSession = cache(async (): Promise<PageSession | null> => {
  const ctx = await pageContext()
  if (!ctx) return null
  const { actor } = ctx
  return { userId: actor.userId, sessionId: actor.id, name: actor.user.name, emailStatus: await getEmailStatus(ctx) }
})
