import { buttonStyle } from '@/components/ui/button-style'
import { OVERVIEW } from './reference'
import { ReferencePage } from './reference-page'

const DocumentationNotFound = () => (
  <ReferencePage
    title="The reference has no such page"
    description="The address may be mistyped. Basics lists every operation, and the search finds it by a word."
  >
    <a href={OVERVIEW} className={buttonStyle()}>
      To the API reference
    </a>
  </ReferencePage>
)

export default DocumentationNotFound
