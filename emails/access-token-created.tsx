import { ActLetter } from './act-letter'
import { type LetterProps, type Origin, originFacts } from './layout'
import { ORIGIN, preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'accessTokenCreated'>, Origin {
  tokenName: Slot
  /** As the settings name them. */
  permissions: Slot
  worksUntil: Slot
  tokensUrl: Slot
  hasPassword: boolean
}

export default function AccessTokenCreated(props: Props) {
  const { tokenName, permissions, worksUntil, tokensUrl, ...letter } = props
  const { look, t } = letter
  const facts = [
    [t('name'), tokenName],
    [t('permissions'), permissions],
    [t('worksUntil'), worksUntil],
    ...originFacts(look, props),
  ] as const
  return <ActLetter {...letter} facts={facts} url={tokensUrl} />
}

AccessTokenCreated.PreviewProps = preview('accessTokenCreated', AccessTokenCreated, {
  tokenName: 'Nightly export',
  permissions: 'Read and change your email address',
  worksUntil: '20 December 2026 at 09:00 UTC',
  ...ORIGIN,
  tokensUrl: 'https://accounts.example.com/settings/access-tokens',
  hasPassword: true,
})
