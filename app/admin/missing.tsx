import Link from 'next/link'
import NotFound from '@/app/not-found'
import { buttonStyle } from '@/components/ui/button-style'
import { isOperatorSignedIn } from '@/server/pages/is-operator'
import { AdminPage } from './admin-page'

/** What an operator sees where nothing is; for everybody else /admin does not exist. */
export async function Missing(words: { title: string; description: string }) {
  if (!(await isOperatorSignedIn())) return <NotFound />
  return (
    <AdminPage {...words}>
      <Link href="/admin" className={buttonStyle()}>
        Back to the overview
      </Link>
    </AdminPage>
  )
}
