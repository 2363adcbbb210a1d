import type { Authority } from '@/contract/errors'
import { textLink } from './text-link'

/** The values of a rich text that names an authority, with a link to its page. */
export const authorityLink = ({ name, url }: Authority) => ({
  authority: () => (
    <a href={url} target="_blank" rel="noopener noreferrer" className={textLink}>
      {name}
    </a>
  ),
})
