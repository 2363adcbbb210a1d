import { redirect } from 'next/navigation'
import { getServerSession } from 'next-auth'
import { cache } from 'react'
import type { Answer } from '@/contract/define'
import type { getEmailStatus as contract } from '@/contract/email'
import { isOperator } from '@/domain/accounts/operators'
import type { Context } from '@/domain/context'
import { getEmailStatus } from '@/domain/email/get-email-status'
import { authenticateSession } from '@/domain/sessions/authenticate'
import { noteSessionUse } from '@/domain/sessions/sessions'
import { type SessionEnd, whySessionEnded } from '@/domain/sessions/why-ended'
import { systemContext } from '../system-context'
import { orDatabaseAwayPage, unlessAway } from './away'
import { authOptions } from './sign-in'

/** The query of a page, as Next gives it. */
export interface PageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

/** Adds the `return_to` of the page's query to a path. The page that it leads to checks it. */
export async function withReturnTo(path: string, { searchParams }: PageProps): Promise<string> {
  const { return_to: wish } = await searchParams
  if (typeof wish !== 'string') return path
  return `${path}${path.includes('?') ? '&' : '?'}return_to=${encodeURIComponent(wish)}`
}

/** Redirects to the sign-in. If the browser still has the cookie of an ended session, that page says so. */
export async function toSignIn(path: string, props: PageProps): Promise<never> {
  const [session, next] = await Promise.all([getServerSession(authOptions()), withReturnTo(path, props)])
  redirect(`/sign-in?${session?.sessionId ? 'ended=1&' : ''}next=${next.replaceAll(/[?&%]/g, encodeURIComponent)}`)
}

/** Why the session has ended whose cookie the browser still has. */
export async function endOfSession(): Promise<SessionEnd> {
  const session = await getServerSession(authOptions())
  return session?.sessionId ? unlessAway(whySessionEnded(systemContext(), session.sessionId), 'other') : 'other'
}

interface PageSession {
  userId: string
  sessionId: string
  name: string
  emailStatus: Answer<typeof contract>
  isOperator: boolean
}

/** The context of the signed-in person, read from the database once for each page. Null when signed out, revoked or withdrawn. */
export const pageContext = cache(async (): Promise<Context | null> => {
  const session = await getServerSession(authOptions())
  const ctx = systemContext()
  const actor = session?.sessionId ? await orDatabaseAwayPage(authenticateSession(ctx, session.sessionId)) : null
  return actor && { ...ctx, actor, ip: '', userAgent: '', buckets: [] }
})

/** The same for a page of the settings or of /admin: opening one is a use of the session. Any other page may be opened by the browser itself. */
export async function openPage(): Promise<Context | null> {
  const ctx = await pageContext()
  if (ctx) noteSessionUse(ctx, ctx.actor)
  return ctx
}

/** The parts of the session that the header of a page shows. */
export const accountOf = ({ name, emailStatus, isOperator }: PageSession) => ({
  name,
  email: emailStatus.current_email,
  isOperator,
})

/** The facts about the signed-in person that every page shows. */
export const currentSession = cache(async (): Promise<PageSession | null> => {
  const ctx = await pageContext()
  if (!ctx) return null
  const { actor } = ctx
  const { userId, id: sessionId, user } = actor
  const [emailStatus, isOperatorToo] = await Promise.all([getEmailStatus(ctx), isOperator(ctx, userId)])
  return { userId, sessionId, name: user.name, emailStatus, isOperator: isOperatorToo }
})

/** For a page that needs no account. While the database is away, the page appears as it does to a person who is signed out. */
export const sessionIfReadable = cache(() => unlessAway(currentSession(), null))
