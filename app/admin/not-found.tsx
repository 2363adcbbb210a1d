import Link from 'next/link'
import NotFound, { generateMetadata } from '@/app/not-found'
import { buttonStyle } from '@/components/ui/button-style'
import { isOperatorSignedIn } from '@/server/pages/is-operator'
import { AdminPage } from './admin-page'

export { generateMetadata }

/** An operator has followed an id that finds nothing; for everybody else /admin does not exist. */
export default async function AdminNotFound() {
  if (!(await isOperatorSignedIn())) return <NotFound />
  return (
    <AdminPage
      title="Nothing has this id"
      description="No account, deletion or application has it. It may be mistyped, or everything that was kept of it has been deleted by now; the command “receipt show” still finds the receipt of a deletion."
    >
      <Link href="/admin" className={buttonStyle()}>
        Back to the overview
      </Link>
    </AdminPage>
  )
}
