import type { Metadata } from 'next'
import { notFound, redirect } from 'next/navigation'
import { isStorable } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { Context } from '@/domain/context'
import { unlessAway } from '@/server/pages/away'
import { isOperatorSignedIn } from '@/server/pages/is-operator'
import { openPage } from '@/server/pages/session'

export const NOTHING_HAS_IT = 'Nothing has this ID'

/**
 * The title, with the name or the id of what the page shows: null if nothing has the id. For everybody but operators it says that the page
 * does not exist. While the database is away it is that of the product.
 */
export const titleForOperators =
  (title: string, nameOf: (id: string) => Promise<string | null> = async (id) => id) =>
  async ({ params }: { params: Promise<Record<string, string | string[]>> }): Promise<Metadata> => {
    const isOperator = await unlessAway(isOperatorSignedIn(), null)
    const [id] = Object.values(await params)
    if (!isOperator) return isOperator === null ? {} : { title: 'Page not found' }
    if (typeof id !== 'string') return { title }
    const name = await nameOf(id).catch((error) => (error instanceof AppError || !isStorable(id) ? null : id))
    return { title: name === null ? NOTHING_HAS_IT : `${title} ${name}` }
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
