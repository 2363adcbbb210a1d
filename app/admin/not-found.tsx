import { generateMetadata } from '@/app/not-found'
import { NOTHING_HAS_IT } from './for-operators'
import { Missing } from './missing'

export { generateMetadata }

/** An operator has followed an id that finds nothing. */
export default function AdminNotFound() {
  return (
    <Missing
      title={NOTHING_HAS_IT}
      description="No account, deletion or app has it. It may be mistyped, or everything that was kept of it has been deleted by now; the command “receipt show” still finds the receipt of a deletion."
    />
  )
}
