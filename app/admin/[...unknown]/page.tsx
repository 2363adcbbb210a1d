import { notFound } from 'next/navigation'
import { titleForOperators } from '../for-operators'

export const generateMetadata = titleForOperators('Nothing is here')

/** Operators keep their navigation on a path that does not exist. */
export default function UnknownPage() {
  notFound()
}
