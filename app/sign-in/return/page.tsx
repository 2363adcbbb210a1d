import type { Metadata } from 'next'
import { CenteredPage } from '@/components/layout/page'
import { Texts } from '@/components/layout/texts'
import { pageTexts, textsOf } from '@/server/pages/language'
import { OpenReturnPath } from './open-return-path'

export const generateMetadata = async (): Promise<Metadata> => ({ title: (await pageTexts('SignIn'))('returnTab') })

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
