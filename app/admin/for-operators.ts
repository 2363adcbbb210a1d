import type { Metadata } from 'next'
import { notFound, redirect } from 'next/navigation'
import { AppError } from '@/contract/errors'
import type { Context } from '@/domain/context'
import { isOperatorSignedIn } from '@/server/pages/is-operator'
import { openPage } from '@/server/pages/session'

/** For everybody but operators the title says that the page does not exist. */
export const titleForOperators = (title: string) => async (): Promise<Metadata> => ({
  title: (await isOperatorSignedIn()) ? title : 'Page not found',
})

/** The context of the operator who is signed in; for everybody else the page does not exist. */
export async function operatorContext(path: string): Promise<Context> {
  const ctx = await openPage()
  if (!ctx) redirect(`/sign-in?next=${path}`)
  if (!(await isOperatorSignedIn())) notFound()
  return ctx
}

/** Shows the not-found page if there is no row with this id. */
export function orNotFound(error: unknown): never {
  if (error instanceof AppError) notFound()
  throw error
}
