import type { Metadata } from 'next'
import { CenteredPage } from '@/components/page'
import { GoOn } from './go-on'

export const metadata: Metadata = { title: 'Signed in' }

/** The identity provider has sent the browser back; only the browser knows where the person was going. */
export default function ReturnPage() {
  return (
    <CenteredPage account={null}>
      <GoOn />
    </CenteredPage>
  )
}
