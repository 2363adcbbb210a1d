import { titled } from '@/app/page-title'
import { CenteredPage } from '@/components/layout/page'
import { Texts } from '@/components/layout/texts'
import { textsOf } from '@/server/pages/language'
import { OpenReturnPath } from './open-return-path'

export const generateMetadata = titled('SignIn', 'returnTab')

/** The identity provider has sent the browser back; only the browser knows where the person was going. */
export default async function ReturnPage() {
  return (
    <CenteredPage account={null}>
      <Texts texts={await textsOf(['SignIn'])}>
        <OpenReturnPath />
      </Texts>
    </CenteredPage>
  )
}
