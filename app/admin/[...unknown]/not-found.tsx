import { generateMetadata } from '@/app/not-found'
import { Missing } from '../missing'

export { generateMetadata }

export default function UnknownPath() {
  return <Missing title="There is no such page" description="The address may be mistyped." />
}
