import { generateMetadata } from '@/app/not-found'
import { MAY_BE_GONE } from '@/contract/words'
import { NOTHING_HAS_IT } from './for-operators'
import { Missing } from './missing'

export { generateMetadata }

/** An operator has followed an id that finds nothing. */
export default function AdminNotFound() {
  return <Missing title={NOTHING_HAS_IT} description={`No account, deletion or app has it. ${MAY_BE_GONE}`} />
}
