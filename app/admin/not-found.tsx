import { generateMetadata } from '@/app/not-found'
import { Missing } from './missing'

export { generateMetadata }

/** An operator has followed an id that finds nothing. */
export default function AdminNotFound() {
  return (
    <Missing
      title="Nothing has this id"
      description="No account, deletion or app has it. It may be mistyped, or everything that was kept of it has been deleted by now; the command “receipt show” still finds the receipt of a deletion."
    />
  )
}
