import Link from 'next/link'
import { buttonStyle } from '../ui/button-style'

interface NextPageProps {
  /** The page, up to the place where a parameter follows. */
  path: string
  /** Where the next page begins; null on the last one. */
  next: string | null
}

export const NextPage = ({ path, next }: NextPageProps) =>
  next && (
    <Link
      href={`${path}after=${encodeURIComponent(next)}`}
      className={buttonStyle({ variant: 'secondary', size: 'small' })}
    >
      Next page
    </Link>
  )
