import type { Metadata } from 'next'
import { notFound, redirect } from 'next/navigation'
import { AppError } from '@/contract/errors'
import type { Context } from '@/domain/context'
import { unlessAway } from '@/server/pages/away'
import { isOperatorSignedIn } from '@/server/pages/is-operator'
import { openPage } from '@/server/pages/session'

/**
 * The title, with the name or the id of what the page shows. For everybody but operators it says that the page does not exist. While the database is
 * away it is that of the product.
 */
export const titleForOperators =
  (title: string, nameOf = async (id: string) => id) =>
  async ({ params }: { params: Promise<Record<string, string | string[]>> }): Promise<Metadata> => {
    const isOperator = await unlessAway(isOperatorSignedIn(), null)
    const [id] = Object.values(await params)
    if (!isOperator) return isOperator === null ? {} : { title: 'Page not found' }
    return { title: typeof id === 'string' ? `${title} ${await nameOf(id).catch(() => id)}` : title }
  }

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
