import type { Metadata } from 'next'
import { notFound, redirect } from 'next/navigation'
import { AppError } from '@/contract/errors'
import type { Context } from '@/domain/context'
import { isOperatorSignedIn } from '@/server/pages/is-operator'
import { pageContext } from '@/server/pages/session'

/** The title, too, tells everybody but operators that the page does not exist. */
export const titleForOperators = (title: string) => async (): Promise<Metadata> => ({
  title: (await isOperatorSignedIn()) ? title : 'Page not found',
})

/** The context of the operator who is signed in; for everybody else the page does not exist. */
export async function operatorContext(path: string): Promise<Context> {
  const ctx = await pageContext()
  if (!ctx) redirect(`/sign-in?next=${path}`)
  if (!(await isOperatorSignedIn())) notFound()
  return ctx
}

/** Whose page it is. */
export const accountOf = ({ actor }: Context) => ({ name: actor.user.name, email: actor.user.email })

/** For what has no such id. */
export function orNotFound(error: unknown): never {
  if (error instanceof AppError) notFound()
  throw error
}
