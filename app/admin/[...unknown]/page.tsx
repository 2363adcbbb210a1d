import { notFound } from 'next/navigation'
import { titleForOperators } from '../for-operators'

export const generateMetadata = titleForOperators('There is no such page')

/** Operators keep their navigation on a path that does not exist. */
export default function UnknownPage() {
  notFound()
}
