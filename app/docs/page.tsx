import { redirect } from 'next/navigation'

/** The only documentation that the service shows. */
export default function DocsPage() {
  redirect('/docs/api')
}
